"""Traffic on the roads of `rlenvs.kits.roads`: cars, drivers, collisions.

A world merges `CARS` into its state, `DRIVER_DATA` and `ROAD_DATA` into its data, and `car_sizes` and the sizes of its
network into its sizes. In a reset it places cars (`put_on_lane`), makes them drivers (`become_driver`) and calls
`locate`. In a step it tells the cars of its agents what to do (`choose`, or `slip` and `acceleration` of a RAW car),
and then, for each moment of simulation, calls `act_all` and `move_all`.
"""
