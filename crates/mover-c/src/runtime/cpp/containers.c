/* What the containers of the C++ library keep in its binary: lists, balanced trees, sizes of hash
 * tables. */

struct __mover_list {
    struct __mover_list *next, *previous;
};
void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct __mover_list *this, struct __mover_list *at) {
    this->next = at;
    this->previous = at->previous;
    at->previous->next = this;
    at->previous = this;
}
void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct __mover_list *this) {
    struct __mover_list *next = this->next, *previous = this->previous;
    previous->next = next;
    next->previous = previous;
}
void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct __mover_list *this, struct __mover_list *first, struct __mover_list *last) {
    if (this == last)
        return;
    last->previous->next = this;
    first->previous->next = last;
    this->previous->next = first;
    struct __mover_list *before = this->previous;
    this->previous = last->previous;
    last->previous = first->previous;
    first->previous = before;
}
void _ZNSt8__detail15_List_node_base10_M_reverseEv(struct __mover_list *this) {
    struct __mover_list *at = this;
    do {
        struct __mover_list *next = at->next;
        at->next = at->previous;
        at->previous = next;
        at = next;
    } while (at != this);
}
void _ZNSt8__detail15_List_node_base4swapERS0_S1_(struct __mover_list *x, struct __mover_list *y) {
    struct __mover_list a = *x, b = *y;
    int x_is_empty = a.next == x, y_is_empty = b.next == y;
    x->next = y_is_empty ? x : b.next;
    x->previous = y_is_empty ? x : b.previous;
    y->next = x_is_empty ? y : a.next;
    y->previous = x_is_empty ? y : a.previous;
    x->next->previous = x->previous->next = x;
    y->next->previous = y->previous->next = y;
}

/* A red-black tree. Its header has the root as parent, and the first and the last node. */
struct __mover_tree {
    int is_black;
    struct __mover_tree *parent, *left, *right;
};
struct __mover_tree *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(struct __mover_tree *x) {
    if (x->right) {
        x = x->right;
        while (x->left)
            x = x->left;
        return x;
    }
    struct __mover_tree *y = x->parent;
    while (x == y->right) {
        x = y;
        y = y->parent;
    }
    return x->right != y ? y : x;
}
struct __mover_tree *_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(struct __mover_tree *x) {
    return _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(x);
}
struct __mover_tree *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(struct __mover_tree *x) {
    if (!x->is_black && x->parent->parent == x)
        return x->right;
    if (x->left) {
        x = x->left;
        while (x->right)
            x = x->right;
        return x;
    }
    struct __mover_tree *y = x->parent;
    while (x == y->left) {
        x = y;
        y = y->parent;
    }
    return y;
}
struct __mover_tree *_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(struct __mover_tree *x) {
    return _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(x);
}
/* Puts `to` where `from` is seen from above. */
static void __mover_replace(struct __mover_tree *from, struct __mover_tree *to, struct __mover_tree *header) {
    if (from == header->parent)
        header->parent = to;
    else if (from == from->parent->left)
        from->parent->left = to;
    else
        from->parent->right = to;
}
static void __mover_rotate_left(struct __mover_tree *x, struct __mover_tree *header) {
    struct __mover_tree *y = x->right;
    x->right = y->left;
    if (y->left)
        y->left->parent = x;
    y->parent = x->parent;
    __mover_replace(x, y, header);
    y->left = x;
    x->parent = y;
}
static void __mover_rotate_right(struct __mover_tree *x, struct __mover_tree *header) {
    struct __mover_tree *y = x->left;
    x->left = y->right;
    if (y->right)
        y->right->parent = x;
    y->parent = x->parent;
    __mover_replace(x, y, header);
    y->right = x;
    x->parent = y;
}
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(_Bool is_left, struct __mover_tree *x, struct __mover_tree *parent, struct __mover_tree *header) {
    x->parent = parent;
    x->left = 0;
    x->right = 0;
    x->is_black = 0;
    if (is_left) {
        parent->left = x;
        if (parent == header) {
            header->parent = x;
            header->right = x;
        } else if (parent == header->left)
            header->left = x;
    } else {
        parent->right = x;
        if (parent == header->right)
            header->right = x;
    }
    while (x != header->parent && !x->parent->is_black) {
        struct __mover_tree *above = x->parent->parent;
        int on_left = x->parent == above->left;
        struct __mover_tree *uncle = on_left ? above->right : above->left;
        if (uncle && !uncle->is_black) {
            x->parent->is_black = 1;
            uncle->is_black = 1;
            above->is_black = 0;
            x = above;
        } else if (on_left) {
            if (x == x->parent->right) {
                x = x->parent;
                __mover_rotate_left(x, header);
            }
            x->parent->is_black = 1;
            above->is_black = 0;
            __mover_rotate_right(above, header);
        } else {
            if (x == x->parent->left) {
                x = x->parent;
                __mover_rotate_right(x, header);
            }
            x->parent->is_black = 1;
            above->is_black = 0;
            __mover_rotate_left(above, header);
        }
    }
    header->parent->is_black = 1;
}
struct __mover_tree *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct __mover_tree *z, struct __mover_tree *header) {
    struct __mover_tree *y = z, *x, *x_parent;
    if (z->left && z->right) {
        y = z->right;
        while (y->left)
            y = y->left;
        x = y->right;
    } else
        x = z->left ? z->left : z->right;
    int was_black;
    if (y != z) {
        z->left->parent = y;
        y->left = z->left;
        if (y != z->right) {
            x_parent = y->parent;
            if (x)
                x->parent = y->parent;
            y->parent->left = x;
            y->right = z->right;
            z->right->parent = y;
        } else
            x_parent = y;
        __mover_replace(z, y, header);
        y->parent = z->parent;
        was_black = y->is_black;
        y->is_black = z->is_black;
    } else {
        x_parent = z->parent;
        if (x)
            x->parent = z->parent;
        __mover_replace(z, x, header);
        if (header->left == z) {
            header->left = z->parent;
            if (x)
                for (header->left = x; header->left->left;)
                    header->left = header->left->left;
        }
        if (header->right == z) {
            header->right = z->parent;
            if (x)
                for (header->right = x; header->right->right;)
                    header->right = header->right->right;
        }
        was_black = z->is_black;
    }
    if (!was_black)
        return z;
    while (x != header->parent && (!x || x->is_black)) {
        int on_left = x == x_parent->left;
        struct __mover_tree *w = on_left ? x_parent->right : x_parent->left;
        if (!w->is_black) {
            w->is_black = 1;
            x_parent->is_black = 0;
            if (on_left)
                __mover_rotate_left(x_parent, header);
            else
                __mover_rotate_right(x_parent, header);
            w = on_left ? x_parent->right : x_parent->left;
        }
        if ((!w->left || w->left->is_black) && (!w->right || w->right->is_black)) {
            w->is_black = 0;
            x = x_parent;
            x_parent = x_parent->parent;
            continue;
        }
        if (on_left) {
            if (!w->right || w->right->is_black) {
                w->left->is_black = 1;
                w->is_black = 0;
                __mover_rotate_right(w, header);
                w = x_parent->right;
            }
            w->is_black = x_parent->is_black;
            x_parent->is_black = 1;
            if (w->right)
                w->right->is_black = 1;
            __mover_rotate_left(x_parent, header);
        } else {
            if (!w->left || w->left->is_black) {
                w->right->is_black = 1;
                w->is_black = 0;
                __mover_rotate_left(w, header);
                w = x_parent->left;
            }
            w->is_black = x_parent->is_black;
            x_parent->is_black = 1;
            if (w->left)
                w->left->is_black = 1;
            __mover_rotate_right(x_parent, header);
        }
        break;
    }
    if (x)
        x->is_black = 1;
    return z;
}

/* Hash tables: how many buckets. Only the usual load factor, 1, is known. */
struct __mover_rehash_policy {
    unsigned load_factor;
    size_t next_resize;
};
struct __mover_rehash {
    _Bool is_needed;
    size_t buckets;
};
static const unsigned __mover_primes[12] = {2, 3, 5, 7, 11, 13, 29, 59, 127, 257, 541, 1109};
size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(struct __mover_rehash_policy *this, size_t least) {
    if (this->load_factor != 0x3f800000)
        __mover_unsupported("a load factor other than 1");
    for (int i = 0; i < 12; i++)
        if (__mover_primes[i] >= least) {
            this->next_resize = __mover_primes[i];
            return __mover_primes[i];
        }
    __mover_unsupported("a hash table with more than 1109 buckets");
    return 0;
}
void __mover_uses_hash_table(void);
struct __mover_rehash _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(struct __mover_rehash_policy *this, size_t buckets, size_t elements, size_t inserted) {
    __mover_uses_hash_table();
    struct __mover_rehash none = {0, 0};
    size_t all = elements + inserted;
    if (all <= this->next_resize)
        return none;
    size_t least = !this->next_resize && all < 11 ? 11 : all;
    if (least >= buckets) {
        size_t wanted = least + 1 > 2 * buckets ? least + 1 : 2 * buckets;
        struct __mover_rehash more = {1, _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(this, wanted)};
        return more;
    }
    this->next_resize = buckets;
    return none;
}
/* The hash of bytes is the library's own matter. */
size_t _ZSt11_Hash_bytesPKvmm(const unsigned char *bytes, size_t length, size_t seed) {
    size_t hash = seed ^ 14695981039346656037ul;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 1099511628211ul;
    return hash;
}
