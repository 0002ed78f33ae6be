import java.util.ArrayList;
import java.util.List;

/*
 * Keeps one object of 1,000 bytes more in each turn; keeps the last 100 of those that another method makes; has kept 2,000
 * from the start; and makes 50 garbage. All are of one class and size. Goes on until each quarter of the time has had many
 * turns, however unevenly the machine lets it run.
 */
public class Growing {
	static final int ENOUGH = 1000, EACH = 100, MANY = 1 << 20;
	static final List<byte[]> leaked = new ArrayList<>(MANY);
	static final byte[][] filled = new byte[2000][], bounded = new byte[100][];
	static final long[] turns = new long[MANY];
	static volatile Object sink;

	static void leak() {
		leaked.add(new byte[984]);
	}

	static void fill() {
		for (int i = 0; i < filled.length; i++)
			filled[i] = new byte[984];
	}

	static void replace(int turn) {
		bounded[turn % bounded.length] = new byte[984];
	}

	static void garbage() {
		sink = new byte[984];
	}

	static boolean isSpread(int count) {
		int[] quarters = new int[4];
		double length = turns[count - 1] - turns[0] + 1;

		for (int i = 0; i < count; i++)
			quarters[(int)((turns[i] - turns[0]) / length * 4)]++;
		for (int n : quarters)
			if (n < EACH)
				return false;
		return true;
	}

	public static void main(String[] args) {
		int turn = 0;

		fill();
		do {
			turns[turn] = System.nanoTime();
			leak();
			replace(turn++);
			for (int n = 0; n < 50; n++)
				garbage();
			if (turn % 250 == 0)
				System.gc();
		} while (turn < ENOUGH || turn % 250 != 0 || !isSpread(turn));
		System.out.println("leaked " + leaked.size() * 1000);
	}
}
