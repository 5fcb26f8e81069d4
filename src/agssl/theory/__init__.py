"""The paper's theory, measured where the Bayes probability is known (`agssl.theory.csbm`).

What is claimed (Section 3.2, Appendices C and D), and what is measured here:

(a) Proposition 1. For any network, E[(R~ - R)^2] <= V[p^t . l] / N + O(E|p^t - p*|)^2, where R = E[p* . l],
    R~ = 1/N sum_i p^t_i . l_i, and l_i is the vector of the network's losses. Both sides are measured over many graphs
    drawn from the model, with teachers and network held fixed, with the factor that the O hides made explicit, as in
    Eq. A.9: (E[|p^t - p*| |l|])^2. The proof takes the N nodes for independent (Eq. A.8); `variance_ratio` is
    V[R~] / (V[p^t . l] / N), which that step sets to 1.
(b) Theorem 1. Delta(K) = min_lambda |sum_k lambda_k h^(k)_i - p*_i| does not rise with K, and tends to 0. It is
    measured for lambda on the simplex (what LF and TS can use), with sum 1 (Section 3.1), and any at all (the proof),
    with trained teachers and with teachers that know nothing.
(c) Guidance 1: the integrated teacher should be near p*. It is measured how near single teachers, Average, LF and TS
    are, and how near they could be.

p*(x_i) is P(y_i | X, A): what the features and edges tell of a node's class where no label is known, as in the paper's
E_x E_{y|x}. Temperature tau is 1.
"""
