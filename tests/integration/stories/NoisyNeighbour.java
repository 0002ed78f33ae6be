// SPDX-License-Identifier: Apache-2.0
/** A noisy neighbour: requests of 1 ms of CPU time, on a CPU that another process uses as much as it can. */
public final class NoisyNeighbour {
	private static long handleRequest(long seed) {
		for (int i = 0; i < 400_000; i++)
			seed = seed * 6364136223846793005L + 1442695040888963407L;
		return seed;
	}

	public static void main(String[] args) {
		System.out.println("ready");
		long end = System.nanoTime() + 60_000_000_000L, seed = 1;

		while (System.nanoTime() < end)
			seed = handleRequest(seed);
		System.out.println(seed);
	}
}
