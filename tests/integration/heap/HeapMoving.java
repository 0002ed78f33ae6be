// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps 20,000 nodes with what belongs to them, and replaces them by others all the time, so that collections never end.
 * Each node refers to one whose value is the next one, and to an array whose first byte is its value's.
 */
public class HeapMoving {
	static class Node {
		final int value;
		Node next;
		byte[] bytes;

		Node(int value) {
			this.value = value;
		}
	}

	static final Node[] table = new Node[20000];

	static Node make(int value) {
		Node node = new Node(value);

		node.next = new Node(value + 1);
		node.bytes = new byte[100];
		node.bytes[0] = (byte) value;
		return node;
	}

	/* With pauses, so that a slow machine has time for other threads, too. */
	static void replace() {
		try {
			for (int i = 0, n = 0;; i = (i + 7919) % table.length) {
				table[i] = make(i);
				if (++n % 1000 == 0)
					Thread.sleep(1);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws Exception {
		Thread thread = new Thread(HeapMoving::replace, "replaces");

		for (int i = 0; i < table.length; i++)
			table[i] = make(i);
		thread.setDaemon(true);
		thread.start();
		System.out.println("ready");
		System.in.read();
	}
}
