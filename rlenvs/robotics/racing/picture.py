"""Pictures of races."""

def draw_race(canvas, p, s):
    pass
