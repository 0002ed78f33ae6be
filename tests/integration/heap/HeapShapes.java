// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Objects of all shapes, held in all ways, for heap dumps. Nothing happens after it has said "ready". */
public class HeapShapes {
	static class Node {
		Node next;
		boolean z;
		byte b;
		char c;
		short s;
		int i;
		long j;
		float f;
		double d;
		Object o;

		Node(int n) {
			z = n % 2 == 1;
			b = (byte) n;
			c = (char) n;
			s = (short) -n;
			i = n * 1000;
			j = n * 1000000007L;
			f = n / 4f;
			d = n / 8.0;
		}
	}

	/** Fields of a superclass come from another class. */
	static class Named extends Node {
		String name;
		int[] data;

		Named(int n) {
			super(n);
			name = "named " + n;
			data = new int[n % 7];
		}
	}

	/** Loaded by a loader of its own. */
	public static class Loaded {
		public static Object held = new Node(5);
	}

	static final int NODES = 3000;
	static Node first;
	static Object[] table = new Object[100000]; // larger than a part of the dump that is written at once
	static final long NUMBER = 0x1122334455667788L;
	static String text = "a text \u20ac";
	static Map<String, long[]> map = new HashMap<>();
	static WeakReference<Object> weak = new WeakReference<>(new int[123]);
	static SoftReference<Object> soft = new SoftReference<>(new int[321]);
	static Class<?> foreign;
	static byte[] big = new byte[3 << 20];

	static void park(Object held) {
		synchronized (held) {
			try {
				Thread.sleep(1000000);
			} catch (InterruptedException e) {
				System.out.println(held);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		for (int n = 0; n < NODES; n++) {
			Node node = n % 3 == 0 ? new Named(n) : new Node(n);

			node.next = first;
			first = node;
			table[n * 7919 % table.length] = node;
			if (n % 10 == 0)
				map.put("key " + n, new long[n % 11]);
		}
		big[big.length - 1] = 77;
		URLClassLoader loader = new URLClassLoader(new URL[] {new File(args[0]).toURI().toURL()}, null);
		foreign = loader.loadClass("HeapShapes$Loaded");
		foreign.getField("held").get(null);
		List<Object> local = new ArrayList<>();
		local.add("a local");
		for (int i = 0; i < 3; i++) {
			Thread t = new Thread(() -> park(new Named(77)), "sleeper \u00e9" + i);

			t.setDaemon(true);
			t.start();
			while (t.getState() != Thread.State.TIMED_WAITING)
				Thread.sleep(1);
		}
		System.gc();
		System.out.println("ready");
		System.in.read();
		System.out.println(local);
	}
}
