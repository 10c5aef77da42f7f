# Matrices in R, with the BLAS that it loads: products, a system, singular values.
times <- as.integer(commandArgs(trailingOnly = TRUE)[1])
set.seed(3)
a <- matrix(rnorm(250 * 250), 250)
for (turn in seq_len(times)) {
  product <- crossprod(a)
  solution <- solve(product + diag(250), a[, 1])
  values <- svd(a, nu = 0, nv = 0)$d
}
fitted <- lm(a[, 1] ~ a[, 2:30])
cat(format(c(sum(product), sum(solution), sum(values), sum(coef(fitted))), digits = 17), sep = "\n")
