// A JVM: a parallel stream, a separate executor, and garbage to collect.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

public class Streams {
    static long mixed(long seed) {
        for (int round = 0; round < 200; ++round) {
            seed ^= seed << 13;
            seed ^= seed >>> 7;
            seed ^= seed << 17;
        }
        return seed;
    }

    static long strings(int number, int length) {
        List<String> kept = new ArrayList<>();
        for (int i = 0; i < length; ++i) kept.add("item " + number + " " + i);
        return kept.stream().mapToLong(String::hashCode).sum();
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int size = Integer.parseInt(arguments[1]);
        long sum = LongStream.rangeClosed(1, size).parallel().map(Streams::mixed).sum();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<Long>> jobs = new ArrayList<>();
        for (int job = 0; job < 40; ++job) {
            final int number = job;
            jobs.add(() -> strings(number, size / 50));
        }
        for (Future<Long> found : pool.invokeAll(jobs)) sum += found.get();
        pool.shutdown();
        System.out.println(sum);
    }
}
