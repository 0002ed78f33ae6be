// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.RandomAccessFile;

/** Page cache misses: ColdCache FILE. A thread looks up records in a file that something else drops from the page cache. */
public final class ColdCache {
	private static long findRecord(RandomAccessFile index, long key) throws IOException {
		index.seek((key >>> 16) % (index.length() - 8));
		return index.readLong();
	}

	public static void main(String[] args) throws IOException {
		System.out.println("ready");
		long end = System.nanoTime() + 60_000_000_000L, seed = 1, sum = 0;

		try (RandomAccessFile index = new RandomAccessFile(args[0], "r")) {
			while (System.nanoTime() < end) {
				seed = seed * 6364136223846793005L + 1442695040888963407L;
				sum += findRecord(index, seed);
			}
		}
		System.out.println(sum);
	}
}
