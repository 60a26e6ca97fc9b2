"""The solution in plain Python, as it can be written in a page."""

ARGUMENTS = "lists"


def backup(P, R, gamma, values):
    return [
        [R[s][a] + gamma * sum(p * v for p, v in zip(P[a][s], values)) for a in range(len(P))] for s in range(len(R))
    ]


def value_iteration(P, R, gamma, tolerance):
    values, sweeps = [0.0] * len(R), 0
    while True:
        new = [max(row) for row in backup(P, R, gamma, values)]
        sweeps += 1
        if max(abs(a - b) for a, b in zip(new, values)) <= tolerance:
            return new, sweeps
        values = new


def evaluate(P, R, gamma, policy):
    n = len(R)
    rows = [[(s == t) - gamma * P[policy[s]][s][t] for t in range(n)] + [R[s][policy[s]]] for s in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [rows[s][n] / rows[s][s] for s in range(n)]


def policy_iteration(P, R, gamma):
    policy = [0] * len(R)
    while True:
        values = evaluate(P, R, gamma, policy)
        q, stable = backup(P, R, gamma, values), True
        for state, row in enumerate(q):
            if max(row) > row[policy[state]] + 1e-10:
                policy[state], stable = row.index(max(row)), False
        if stable:
            return policy, values
