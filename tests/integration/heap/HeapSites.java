import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/*
 * Holds what three methods allocate, again and again: in a static map, in a local variable of a thread, in a list that
 * another object has. A fourth method's objects become garbage.
 */
public class HeapSites {
	static final Map<Integer, byte[]> cache = new HashMap<>();
	static final List<Object> holder = new ArrayList<>();
	static volatile Object garbage;

	static void fillCache(int i) {
		cache.put(i % 10_000, new byte[1000]);
	}

	static void fillList(List<long[]> list, int i) {
		if (list.size() < 1000)
			list.add(new long[1250]);
		else
			list.set(i % 1000, new long[1250]);
	}

	static void waste() {
		for (int i = 0; i < 10; i++)
			garbage = new char[100 + i];
	}

	static void holdLocal() {
		byte[][] local = new byte[50][];

		for (int i = 0; ; i++) {
			local[i % 50] = new byte[200_000];
			pause();
		}
	}

	static void pause() {
		try {
			Thread.sleep(1);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws Exception {
		Thread thread = new Thread(HeapSites::holdLocal, "has-local");
		List<long[]> list = new ArrayList<>();
		int round = 0;

		thread.setDaemon(true);
		thread.start();
		holder.add(new Object[] {list});
		System.out.println("ready");
		while (System.in.available() == 0) {
			for (int i = 0; i < 1000; i++, round++) {
				fillCache(round);
				if (i % 10 == 0)
					fillList(list, round / 10);
				waste();
			}
			pause();
		}
	}
}
