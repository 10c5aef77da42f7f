# R processes by fork: mclapply over bootstrap samples.
arguments <- as.integer(commandArgs(trailingOnly = TRUE))
set.seed(4)
x <- rnorm(2000)
one <- function(seed) {
  set.seed(seed)
  mean(replicate(arguments[1], median(sample(x, replace = TRUE))))
}
found <- parallel::mclapply(1:8, one, mc.cores = arguments[2])
cat(format(unlist(found), digits = 17), sep = "\n")
