/* Rounds FACTOR: does the same work round by round, but what `changed` does takes FACTOR times as long; half a second or so. */
public class Rounds
{
	private static volatile long sink;

	private static void first()
	{
		long x = 1;

		for (int i = 0; i < 40000; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink += x;
	}

	private static void second()
	{
		long x = 2;

		for (int i = 0; i < 30000; i++)
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

		for (int i = 0; i < 5000; i++) {
			first();
			second();
			changed(factor);
		}
	}
}
