# Doxygen 1.9 does not know the anchors that Markdown gives to headings, nor the decisions: links to
# them become text.
s/\[([^]]*)\]\((#|decisions\/)[^)]*\)/\1/g
