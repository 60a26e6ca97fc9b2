"""What runs in a fresh clone: the tests of the core, and of each family one kind with its recordings."""

# family: its kind that compiles soonest, and a file of tests that compares it with its original
KINDS = {
    "rlenvs.single.classic": ("CartPole-v0", "tests/single/test_classic_tutorials.py"),
    "rlenvs.single.tabular": ("Taxi-v0", "tests/single/test_tabular.py"),
    "rlenvs.single.objectives": ("ResourceGathering-v0", "tests/single/test_objectives.py"),
    "rlenvs.single.memory": ("RepeatFirst-v0", "tests/single/test_memory_diagnostic.py"),
    "rlenvs.single.exploration": ("MiniGridDoorKey5x5-v0", "tests/single/test_exploration_minigrid.py"),
    "rlenvs.single.treasure": ("DeepSeaTreasure-v0", "tests/single/test_deep_sea_treasure.py"),
    "rlenvs.single.text": ("TextAdventure-v0", "tests/single/test_text.py"),
    "rlenvs.single.puzzles": ("LightsOut-v0", "tests/single/test_puzzles.py"),
    "rlenvs.multi.arcade": ("PaddleDuel-v0", "tests/multi/test_paddle_duel.py"),
    "rlenvs.multi.battle": ("MoveToBeacon-v0", "tests/multi/test_minigames.py"),
    "rlenvs.multi.boards": ("ConnectFour-v0", "tests/multi/test_connect_four.py"),
    "rlenvs.multi.congestion": ("Beach-v0", "tests/multi/test_congestion.py"),
    "rlenvs.multi.dilemmas": ("MatrixGame-v0", "tests/multi/dilemmas/test_matrix_game.py"),
    "rlenvs.multi.gathering": ("ItemGathering-v0", "tests/multi/test_gathering.py"),
    "rlenvs.multi.hanabi": ("Hanabi-v0", "tests/multi/test_hanabi.py"),
    "rlenvs.multi.riddles": ("SwitchRiddle-v0", "tests/multi/test_riddles.py"),
    "rlenvs.multi.generals": ("Generals-v0", "tests/multi/generals/test_generals_records.py"),
    "rlenvs.multi.kitchen": ("Overcooked-v0", "tests/multi/test_kitchen.py"),
    "rlenvs.multi.particle": ("ParticleSimple-v0", "tests/multi/test_particle.py"),
    "rlenvs.multi.pathfinding": ("PathFinding-v0", "tests/multi/test_path_finding.py"),
    "rlenvs.multi.planar": ("Pistonball-v0", "tests/multi/test_pistonball.py"),
    "rlenvs.multi.swarm": ("SwarmSIS-v0", "tests/multi/test_swarm.py"),
    "rlenvs.multi.traffic": ("SignalGrid-v0", "tests/multi/traffic/test_signal_grid.py"),
    "rlenvs.robotics.driving": ("LaneKeeping-v0", "tests/robotics/test_driving_tasks.py"),
    "rlenvs.robotics.landing": ("LunarLander-v0", "tests/robotics/test_lunar_lander.py"),
    "rlenvs.robotics.locomotion": ("Swimmer-v0", "tests/robotics/test_locomotion.py"),
    "rlenvs.robotics.manipulation": ("PandaReach-v0", "tests/robotics/test_panda_reach.py"),
    "rlenvs.robotics.metaworld": ("MetaWorldReach-v0", "tests/robotics/test_metaworld.py"),
    "rlenvs.robotics.navigation": ("SafePointGoal-v0", "tests/robotics/test_safe_point_goal.py"),
    "rlenvs.robotics.quadcopter": ("QuadHover-v0", "tests/robotics/test_quad_hover.py"),
    "rlenvs.robotics.racing": ("MicroRacer-v0", "tests/robotics/test_micro_racer.py"),
    "rlenvs.robotics.walking": ("BipedalWalker-v0", "tests/robotics/test_bipedal_walker.py"),
}
PLAIN = ("tests/core/",)  # folders whose tests all run
EVERY_ID = ("tests/core/test_first_steps.py",)  # run for all ids; they compile nothing
