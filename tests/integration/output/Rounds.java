/*
 * Rounds FACTOR: does the same work round by round, but what `changed` does takes FACTOR times as long; some seconds. With a
 * factor of 3, `changed` is less than half of it: the median method is one that has not changed.
 */
public class Rounds
{
	private static volatile long sink;

	private static void first()
	{
		long x = 1;

		for (int i = 0; i < 80000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink += x;
	}

	private static void second()
	{
		long x = 2;

		for (int i = 0; i < 60000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink += x;
	}

	private static void changed(int factor)
	{
		long x = 3;

		for (int i = 0; i < 30000 * factor; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink += x;
	}

	public static void main(String[] args)
	{
		int factor = Integer.parseInt(args[0]);

		for (int i = 0; i < 12000; i++) {
			first();
			second();
			changed(factor);
		}
	}
}
