// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/** Holds as many MiB as its argument says: a quarter in a map of strings, in a list of integers, in a linked one, in arrays. */
public class HeapLarge {
	static Map<Integer, String> map = new HashMap<>();
	static List<Object> list = new ArrayList<>();
	static List<Object> linked = new LinkedList<>();
	static List<byte[]> arrays = new ArrayList<>();
	static Thread thread = Thread.currentThread(); // the agent asks for its class, too, and a loader remembers what it was asked for

	public static void main(String[] args) throws Exception {
		long quarter = Long.parseLong(args[0]) << 18;

		for (int n = 0; n < quarter / 104; n++)
			map.put(n, "value " + n);
		for (int n = 0; n < quarter / 20; n++)
			list.add(1000 + n);
		for (int n = 0; n < quarter / 24; n++)
			linked.add(list.get(n % list.size()));
		for (long left = quarter; left > 0; left -= arrays.get(arrays.size() - 1).length + 16)
			arrays.add(new byte[arrays.size() % 3000]);
		System.gc();
		System.out.println("ready");
		System.in.read();
	}
}
