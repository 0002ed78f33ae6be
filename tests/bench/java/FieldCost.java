// SPDX-License-Identifier: Apache-2.0
import java.util.Locale;

/*
 * What a write to a field costs, and beside it a loop that touches no field: "NS NS" for each of ROUNDS rounds of COUNT.
 * `FieldCost ROUNDS COUNT`
 */
public class FieldCost {
	int written;

	static double writes(FieldCost to, int count)
	{
		long start = System.nanoTime();

		for (int i = 0; i < count; i++)
			to.written = i;
		return (double)(System.nanoTime() - start) / count;
	}

	static long sum;

	static double others(int count)
	{
		long start = System.nanoTime(), hash = 1;

		for (int i = 0; i < count; i++)
			hash = hash * 31 + (hash >>> 7 ^ i);
		sum = hash;
		return (double)(System.nanoTime() - start) / count;
	}

	public static void main(String[] args)
	{
		int count = Integer.parseInt(args[1]);
		FieldCost to = new FieldCost();

		for (int round = Integer.parseInt(args[0]); round > 0; round--)
			System.out.printf(Locale.ROOT, "%.2f %.2f%n", writes(to, count), others(count));
	}
}
