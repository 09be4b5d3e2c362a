// Decision trees. A node compares a feature with its split, by mode: 0 <=, 1 <, 2 >=, 3 >, 4 ==, 5 !=; mode 6 tests
// membership in a set of numbers [sets][width]. It leads to one of two nodes; a negative index n is the leaf -1 - n.

// The leaf that each row of data [rows][features] reaches in each tree, or -1 if it does not exist.
kernel void descend(global const LEFT *restrict data, global const RIGHT *restrict splits,
                    global const RIGHT *restrict members, global const int *restrict features,
                    global const int *restrict modes, global const int *restrict sets,
                    global const int *restrict when_true, global const int *restrict when_false,
                    global const int *restrict missing_true, global const int *restrict roots,
                    global int *restrict leaf_indices, const int feature_count, const int nodes, const int trees,
                    const int width, const int leaves, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int node = roots[item % trees];
    // No path is longer than the number of nodes.
    for (int step = 0; step < nodes && node >= 0 && node < nodes; step++) {
        const LEFT_VALUE value = LEFT_LOAD(data, item / trees * feature_count + features[node]);
        const RIGHT_VALUE split = RIGHT_LOAD(splits, node);
        const int mode = modes[node], side = compare(value, split);
        bool answer = mode == 5;
        if (mode == 6) {
            for (int member = 0; member < width && !answer; member++)
                answer = value == value && !compare(value, RIGHT_LOAD(members, sets[node] * width + member));
        } else if (value == value && split == split) {
            answer = mode == 0 ? side <= 0 : mode == 1 ? side < 0 : mode == 2 ? side >= 0 : mode == 3 ? side > 0
                                         : mode == 4   ? side == 0 : side != 0;
        }
        node = answer || (value != value && missing_true[node]) ? when_true[node] : when_false[node];
    }
    leaf_indices[item] = node < 0 && -1 - node < leaves ? -1 - node : -1;
}

// Combine the weights of the leaves of all trees: sum, mean, minimum or maximum. NaN is ignored.
kernel void aggregate(global const int *restrict leaf_indices, global const LEAF *restrict leaves,
                      global LEAF *restrict target, const int trees, const int targets, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    LEAF_VALUE total = 0;
    bool is_known = false;
    for (int tree = 0; tree < trees; tree++) {
        const int leaf = leaf_indices[item / targets * trees + tree];
        if (leaf < 0)
            continue;
        const LEAF_VALUE weight = LEAF_LOAD(leaves, leaf * targets + item % targets);
        if (weight == weight) {
            total = is_known ? AGGREGATE(total, weight) : weight;
            is_known = true;
        }
    }
    LEAF_STORE(MEAN ? total / trees : total, item, target);
}
