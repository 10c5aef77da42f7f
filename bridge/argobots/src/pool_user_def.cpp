// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions of pools: five required functions, and optional ones.
#include <new>

#include "pool.hpp"

using namespace weft::argobots;

namespace {

template <auto Member, class Function>
int set_member(ABT_pool_user_def def, Function function) {
    if (is_null(def)) return ABT_ERR_INV_POOL_USER_DEF;
    to_def(def)->*Member = function;
    return ABT_SUCCESS;
}

}   // namespace

extern "C" {

int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn p_create_unit, ABT_pool_user_free_unit_fn p_free_unit,
                             ABT_pool_user_is_empty_fn p_is_empty, ABT_pool_user_pop_fn p_pop,
                             ABT_pool_user_push_fn p_push, ABT_pool_user_def* newdef) {
    *newdef = ABT_POOL_USER_DEF_NULL;
    auto* made = new (std::nothrow) UserDef;
    if (made == nullptr) return ABT_ERR_MEM;
    made->create_unit = p_create_unit;
    made->free_unit = p_free_unit;
    made->is_empty = p_is_empty;
    made->pop = p_pop;
    made->push = p_push;
    *newdef = reinterpret_cast<ABT_pool_user_def>(made);
    return ABT_SUCCESS;
}

int ABT_pool_user_def_free(ABT_pool_user_def* def) {
    if (is_null_at(def)) return ABT_ERR_INV_POOL_USER_DEF;
    delete to_def(*def);
    *def = ABT_POOL_USER_DEF_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn p_init) {
    return set_member<&UserDef::init>(def, p_init);
}
int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn p_free) {
    return set_member<&UserDef::free>(def, p_free);
}
int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn p_get_size) {
    return set_member<&UserDef::get_size>(def, p_get_size);
}
int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn p_pop_wait) {
    return set_member<&UserDef::pop_wait>(def, p_pop_wait);
}
int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn p_pop_many) {
    return set_member<&UserDef::pop_many>(def, p_pop_many);
}
int ABT_pool_user_def_set_push_many(ABT_pool_user_def def, ABT_pool_user_push_many_fn p_push_many) {
    return set_member<&UserDef::push_many>(def, p_push_many);
}
int ABT_pool_user_def_set_print_all(ABT_pool_user_def def, ABT_pool_user_print_all_fn p_print_all) {
    return set_member<&UserDef::print_all>(def, p_print_all);
}

}   // extern "C"
