/*
 * Keeps 1,000 bytes, then makes garbage of two sizes. Arguments: megabytes of each, the size of large arrays in KiB,
 * and "gc" to collect at the end. The heap should have room for all of it.
 */
public class Uncollected {
	static volatile Object sink;
	static Object[] kept;

	/* HotSpot does not sample what fits the TLAB that a thread has when sampling begins: up to a fiftieth of eden. */
	static void leaveTlab() {
		for (int i = 0; i < 16 << 10; i++)
			sink = new short[500];
	}

	public static void main(String[] args) throws Exception {
		long megabytes = Long.parseLong(args[0]), small = 0, large = 0;
		int elements = Integer.parseInt(args[1]) << 10;

		leaveTlab();
		kept = new Object[10];
		for (int i = 0; i < kept.length; i++)
			kept[i] = new byte[100];
		for (; small >> 20 < megabytes; small += 1016)
			sink = new byte[1000];
		for (; elements > 0 && large >> 20 < megabytes; large += elements)
			sink = new char[elements / 2];
		if (args.length > 2)
			System.gc();
		System.out.println("garbage " + small + " " + large);
		if (kept.length != 10)
			throw new IllegalStateException();
	}
}
