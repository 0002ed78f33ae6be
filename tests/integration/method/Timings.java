// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;
import java.util.Locale;

/*
 * Times its own calls and prints them: CALL METHOD NS. `Timings ROUNDS [AGENT]`: the agent is that of tests/rewrite,
 * of which it asks what its class is like: CLASS NUMBER.
 */
public class Timings {
	interface Step { void run() throws Exception; }

	static volatile long sink;

	private final String name = "a \"b\"\n\u001b[31m<script>";
	private int[] data = {1, 2, 3};

	static void busy(long us)
	{
		for (long end = System.nanoTime() + us * 1000; System.nanoTime() < end;)
			sink++;
	}

	static void failing(long us)
	{
		busy(us);
		throw new IllegalStateException("on purpose");
	}

	static void caught(long us)
	{
		try {
			failing(us);
		} catch (IllegalStateException e) {
			sink++;
		}
	}

	static long recursive(int depth, long us)
	{
		busy(us);
		return depth == 0 ? 0 : 1 + recursive(depth - 1, us);
	}

	static String overloaded(String text, double number, long us)
	{
		switch (text) {
		case "a":
			busy(us);
			return String.format(Locale.ROOT, "%f", number);
		default:
			return text;
		}
	}

	/* Has other arguments at its end than at its beginning. */
	private double held(byte number, String text, Object other, Long boxed, double half)
	{
		busy(3000);
		data = null;
		number = 0;
		text = null;
		if (boxed == 1)
			throw new IllegalArgumentException("on purpose");
		return half;
	}

	private void hold(int round)
	{
		char[] text = new char[1000];

		java.util.Arrays.fill(text, '\u20ac');
		try {
			held((byte)-7, round % 2 == 0 ? null : new String(text), this, (long)(round % 2), 1.5);
		} catch (IllegalArgumentException e) {
			sink++;
		}
	}

	static int shortOne(int i)
	{
		sink += i;
		return i;
	}

	private static void time(String name, Step step) throws Exception
	{
		long start = System.nanoTime();

		step.run();
		System.out.printf(Locale.ROOT, "CALL %s %d%n", name, System.nanoTime() - start);
	}

	/* Every round ends with the number of its class. */
	private static void tellClass(Method hash) throws Exception
	{
		if (hash != null)
			System.out.println("CLASS " + hash.invoke(null, Timings.class));
	}

	public static void main(String[] args) throws Exception
	{
		Method hash = null;

		if (args.length > 1) {
			System.load(args[1]);
			hash = Class.forName("RewriteAll").getDeclaredMethod("hash", Class.class);
			hash.setAccessible(true);
		}
		System.out.println("ready");
		for (int round = Integer.parseInt(args[0]); round > 0; round--) {
			time("busy", () -> busy(20000));
			time("caught", () -> caught(20000));
			time("recursive", () -> recursive(2, 10000));
			time("overloaded", () -> overloaded("a", 1.5, 20000));
			for (int i = 0; i < 1000; i++)
				shortOne(i);
			new Timings().hold(round);
			tellClass(hash);
		}
	}
}
