// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/*
 * Keeps a heap full: `HeapFill KIND MIB LIBRARY`. KIND: map (of strings), list (of integers), linked (the
 * same as a linked list), bytes (arrays of 1000), arrays (of 1 MiB). It answers
 * to lines: "stop" with the longest time that a thread which always runs has stood still since the last question, in ms;
 * "follow" with how long FollowReferences takes in the library's own agent, in ms, and the objects.
 */
public class HeapFill {
	static Object kept;
	static volatile long longest;

	static native String follow();

	/* About that many bytes: an entry of the map takes some 104, one of the list some 20, of the linked one some 48. */
	static Object fill(String kind, long bytes) {
		Map<Integer, String> map = new HashMap<>();
		List<Object> list = kind.equals("linked") ? new LinkedList<>() : new ArrayList<>();

		if (kind.equals("map"))
			for (int n = 0; n < bytes / 104; n++)
				map.put(n, "value " + n);
		else if (kind.equals("list"))
			for (int n = 0; n < bytes / 20; n++)
				list.add(n);
		else if (kind.equals("linked"))
			for (int n = 0; n < bytes / 48; n++)
				list.add(n);
		else if (kind.equals("bytes"))
			for (int n = 0; n < bytes / 1024; n++)
				list.add(new byte[1000]);
		else
			for (int n = 0; n < bytes >> 20; n++)
				list.add(new byte[(1 << 20) - 16]);
		return kind.equals("map") ? map : list;
	}

	static void watch() {
		for (long last = System.nanoTime();;) {
			LockSupport.parkNanos(100_000);
			long now = System.nanoTime();

			longest = Math.max(longest, now - last);
			last = now;
		}
	}

	public static void main(String[] args) throws Exception {
		java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
		Thread thread = new Thread(HeapFill::watch);

		System.load(args[2]);
		kept = fill(args[0], Long.parseLong(args[1]) << 20);
		System.gc();
		thread.setDaemon(true);
		thread.start();
		System.out.println("ready");
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			System.out.println(line.equals("follow") ? "follow " + follow() : "stop " + longest / 1e6);
			longest = 0;
		}
	}
}
