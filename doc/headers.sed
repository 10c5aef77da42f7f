# Doxygen's filter: the comment that opens a header becomes the documentation of the file. (Of a file without one
# Doxygen does not miss comments on functions, types and macros.) No line moves, so warnings name the right ones.
1{
    /SPDX/n
    /^\/\* /{
        s,,/** ,
        :block
        /\*\//!{
            n
            b block
        }
        s,\*/, @file */,
        b
    }
    /^\/\/ /{
        s,,/// ,
        s,$, @file,
        :line
        n
        s,^//\( \|$\),///\1,
        t line
    }
}
