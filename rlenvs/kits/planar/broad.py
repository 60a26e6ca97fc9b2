"""Which shapes are near each other: boxes that overlap.

Shapes of static bodies are kept in strips of x by the left ends of their boxes; those that move are sorted by theirs at
every step (they hardly change places), so that only those that overlap along x are looked at.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits.planar.contacts import add_contact, has_contact, link_contacts, may_collide
from rlenvs.kits.planar.shapes import boxes_overlap, set_box


@kernel
def strip_of(s, x):
    """The strip that a place lies in; the outer ones reach to infinity."""
    return int(min(max(math.floor((x - s.strip_left) / s.strip_width), 0.0), s.strip_start.size - 2.0))


@kernel
def sort_shapes(s):
    """Shapes of static bodies into strips, all others into a list. Once, when all shapes are there."""
    s.static_count, s.moving_count = 0, 0
    left, right, reach = 1e300, -1e300, 0.0
    for k in range(s.shape_count):
        set_box(s, k)
        if s.body_kind[s.shape_body[k]] != 0:
            s.moving_shapes[s.moving_count] = k
            s.moving_count += 1
        else:
            s.static_count += 1
            left, right = min(left, s.shape_box[k, 0]), max(right, s.shape_box[k, 0])
            reach = max(reach, s.shape_box[k, 2] - s.shape_box[k, 0])
    strips = s.strip_start.size - 1
    s.strip_left = left if s.static_count > 0 else 0.0
    s.strip_width = max((right - left) / strips, 1e-3) if s.static_count > 0 else 1.0
    s.strip_reach = reach
    for i in range(strips + 1):
        s.strip_start[i] = 0
    for k in range(s.shape_count):
        if s.body_kind[s.shape_body[k]] == 0:
            s.strip_start[strip_of(s, s.shape_box[k, 0]) + 1] += 1
    for i in range(strips):
        s.strip_start[i + 1] += s.strip_start[i]
    # each strip is filled from its end, so that its start ends where it belongs
    for i in range(strips):
        place = s.strip_start[i]
        for k in range(s.shape_count):
            if place == s.strip_start[i + 1]:
                break
            if s.body_kind[s.shape_body[k]] == 0 and strip_of(s, s.shape_box[k, 0]) == i:
                s.static_shapes[place] = k
                place += 1


@kernel
def sort_moving(s):
    """By the left ends of their boxes, by insertion."""
    for i in range(1, s.moving_count):
        k = s.moving_shapes[i]
        left = s.shape_box[k, 0]
        j = i
        while j > 0 and s.shape_box[s.moving_shapes[j - 1], 0] > left:
            s.moving_shapes[j] = s.moving_shapes[j - 1]
            j -= 1
        s.moving_shapes[j] = k


@kernel
def consider(s, k, other):
    """A contact for two shapes that are near each other, where they have none yet."""
    if boxes_overlap(s, k, other) and may_collide(s, k, other) and not has_contact(s, k, other):
        add_contact(s, k, other)


@kernel
def find_pairs(s):
    """Contacts for all shapes that have come near each other."""
    for i in range(s.moving_count):
        set_box(s, s.moving_shapes[i])
    s.placed = 0
    sort_moving(s)
    link_contacts(s)
    for i in range(s.moving_count):
        k = s.moving_shapes[i]
        right = s.shape_box[k, 2]
        if s.static_count > 0:
            first, last = strip_of(s, s.shape_box[k, 0] - s.strip_reach), strip_of(s, right)
            for j in range(s.strip_start[first], s.strip_start[last + 1]):
                consider(s, k, s.static_shapes[j])
        for j in range(i + 1, s.moving_count):
            other = s.moving_shapes[j]
            if s.shape_box[other, 0] > right:
                break
            consider(s, k, other)
