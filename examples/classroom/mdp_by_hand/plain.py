"""The solution in plain Python, as it can be written in a page."""

ARGUMENTS = "lists"


def transitions(n):
    P = [[[0.0] * n for _ in range(n)] for _ in range(2)]
    for state in range(n):
        P[0][state][max(state - 1, 0)] = 1.0
        P[1][state][min(state + 1, n - 1)] = 1.0
    return P


def rewards(n):
    R = [[0.0, 0.0] for _ in range(n)]
    R[0][0] = 0.01
    R[n - 1][1] = 1.0
    return R


def policy_values(P, R, policy, gamma):
    states, actions = range(len(R)), range(len(R[0]))
    values = [0.0] * len(R)
    while True:
        new = [
            sum(policy[s][a] * (R[s][a] + gamma * sum(P[a][s][t] * values[t] for t in states)) for a in actions)
            for s in states
        ]
        if max(abs(new[s] - values[s]) for s in states) <= 1e-12:
            return new
        values = new
