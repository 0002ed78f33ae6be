// SPDX-License-Identifier: Apache-2.0
import java.util.Locale;

/*
 * What a call of a method costs, and beside it two readings of the clock, in turns: "NS NS" for each of ROUNDS rounds of COUNT.
 * `MethodCost ROUNDS COUNT`
 */
public class MethodCost {
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

	public static void main(String[] args)
	{
		int count = Integer.parseInt(args[1]);

		for (int round = Integer.parseInt(args[0]); round > 0; round--)
			System.out.printf(Locale.ROOT, "%.2f %.2f%n", calls(count), clocks(count));
	}
}
