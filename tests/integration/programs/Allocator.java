/*
 * Allocates at three sites, keeps objects at a fourth, and prints "site METHOD CLASS BYTES", with HotSpot's object
 * sizes and compressed class pointers: 16 bytes before an array's elements, 12 before an object's fields, whole words.
 * Arguments: megabytes, objects to keep, and "wait" for lines of input before and after.
 */
public class Allocator {
	static final class Node {
		long a, b, c, d;
	}

	static volatile Object sink;
	static Object[] kept;

	static void atSmall(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[1000];
	}

	static void atLarge(int n) {
		for (int i = 0; i < n; i++)
			sink = new long[500];
	}

	static void atNodes(int n) {
		for (int i = 0; i < n; i++)
			sink = new Node();
	}

	static void atKept(int n) {
		for (int i = 0; i < n; i++)
			kept[i] = new int[4096];
	}

	/* HotSpot does not sample what fits the TLAB that a thread has when sampling begins: up to a fiftieth of eden. */
	static void leaveTlab() {
		for (int i = 0; i < 16 << 10; i++)
			sink = new short[500];
	}

	public static void main(String[] args) throws Exception {
		long megabytes = Long.parseLong(args[0]), small = 0, large = 0, nodes = 0;
		int keep = Integer.parseInt(args[1]);
		boolean waits = args.length > 2;

		System.out.println("ready");
		if (waits)
			System.in.read();
		leaveTlab();
		kept = new Object[keep];
		atKept(keep);
		while (small + large + nodes >> 20 < megabytes) {
			atSmall(1000);
			small += 1000 * 1016;
			atLarge(240);
			large += 240 * 4016;
			atNodes(20000);
			nodes += 20000 * 48;
		}
		System.gc();
		System.out.println("site Allocator.atSmall byte[] " + small);
		System.out.println("site Allocator.atLarge long[] " + large);
		System.out.println("site Allocator.atNodes Allocator$Node " + nodes);
		if (keep > 0)
			System.out.println("site Allocator.atKept int[] " + keep * 16400L);
		System.out.println("end");
		if (waits)
			while (System.in.read() != '\n')
				;
		if (kept.length != keep)
			throw new IllegalStateException();
	}
}
