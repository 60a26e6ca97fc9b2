"""Cars that several families share: equations of motion as kernels, and the numbers of a 1:10 race car.

- `single_track`: CommonRoad's kinematic and dynamic single-track models with their limits, one step by Runge and
  Kutta or Euler, and the controllers of F1TENTH that turn a wanted angle and speed into rates.
- `drift`: a single-track car on brush tires whose grip saturates, so that it slides, spins and can be caught.

All models share a state of seven numbers, an array: X, Y [m], STEER [rad], SPEED [m/s], YAW [rad], YAW_RATE [rad/s],
SLIP [rad]; and parameters, read from a record p by name (`CAR` declares them). A world of one car has `car = f8(7)` in
its state, one of several cars `f8("agents", 7)`.
"""
