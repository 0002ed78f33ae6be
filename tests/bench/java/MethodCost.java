// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;

/*
 * What a call of a method costs, and beside it two readings of the clock, in turns: "NS NS" for each of ROUNDS rounds of
 * COUNT. With THREADS, which all do it at once, these are means, of CPU time.
 * `MethodCost ROUNDS COUNT [THREADS]`
 */
public class MethodCost {
	static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
	static long sum;

	static void called(int i, String text)
	{
		sum += i;
	}

	static double calls(int count)
	{
		long start = System.nanoTime();

		for (int i = 0; i < count; i++)
			called(i, "text");
		return (double)(System.nanoTime() - start) / count;
	}

	static double clocks(int count)
	{
		long start = System.nanoTime();

		for (int i = 0; i < count; i++) {
			long from = System.nanoTime();

			sum += i;
			sum += System.nanoTime() - from;
		}
		return (double)(System.nanoTime() - start) / count;
	}

	/* Threads share no variable here but what timing brings. */
	static void calledByMany(int i, String text)
	{
	}

	static double callsOfMany(int count)
	{
		long start = BEAN.getCurrentThreadCpuTime();

		for (int i = 0; i < count; i++)
			calledByMany(i, "text");
		return (double)(BEAN.getCurrentThreadCpuTime() - start) / count;
	}

	static double clocksOfMany(int count)
	{
		long start = BEAN.getCurrentThreadCpuTime(), own = 0;

		for (int i = 0; i < count; i++) {
			long from = System.nanoTime();

			own += System.nanoTime() - from;
		}
		return own < 0 ? 0 : (double)(BEAN.getCurrentThreadCpuTime() - start) / count;
	}

	static void many(int rounds, int count, int threads) throws Exception
	{
		double[][] ns = new double[threads][2];
		CyclicBarrier barrier = new CyclicBarrier(threads);
		Thread[] all = new Thread[threads];

		for (int t = 0; t < threads; t++) {
			double[] own = ns[t];
			boolean first = t == 0;

			all[t] = new Thread(() -> {
				try {
					for (int round = rounds; round > 0; round--) {
						barrier.await();
						own[0] = callsOfMany(count);
						barrier.await();
						own[1] = clocksOfMany(count);
						barrier.await();
						if (first)
							print(ns);
					}
				} catch (Exception e) {
					e.printStackTrace();
					System.exit(1);
				}
			});
			all[t].start();
		}
		for (Thread t : all)
			t.join();
	}

	static void print(double[][] ns)
	{
		double calls = 0, clocks = 0;

		for (double[] own : ns) {
			calls += own[0];
			clocks += own[1];
		}
		System.out.printf(Locale.ROOT, "%.2f %.2f%n", calls / ns.length, clocks / ns.length);
	}

	public static void main(String[] args) throws Exception
	{
		int rounds = Integer.parseInt(args[0]), count = Integer.parseInt(args[1]);

		if (args.length > 2) {
			many(rounds, count, Integer.parseInt(args[2]));
			return;
		}
		for (int round = rounds; round > 0; round--)
			System.out.printf(Locale.ROOT, "%.2f %.2f%n", calls(count), clocks(count));
	}
}
