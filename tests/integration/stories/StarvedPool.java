// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A starved pool: requests are short, but the pool's two workers also make a report, which waits 150 ms for a slow
 * back end. While both do so, requests wait in the queue.
 */
public final class StarvedPool {
	private static int lookUp(int key) {
		int found = key;

		for (int i = 0; i < 200_000; i++)
			found = found * 31 + i;
		return found;
	}

	private static int makeReport() throws InterruptedException {
		callBackEnd();
		return 0;
	}

	private static void callBackEnd() throws InterruptedException {
		Thread.sleep(150);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		ExecutorService pool = Executors.newFixedThreadPool(2);
		long end = System.nanoTime() + 60_000_000_000L;
		int sum = 0;

		while (System.nanoTime() < end) {
			List<Future<Integer>> reports = new ArrayList<>();

			for (int i = 0; i < 4; i++)
				reports.add(pool.submit(StarvedPool::makeReport));
			sum += handleRequest(pool, sum);
			for (Future<Integer> report : reports)
				sum += report.get();
		}
		pool.shutdown();
		System.out.println(sum);
	}

	private static int handleRequest(ExecutorService pool, int key) throws Exception {
		return pool.submit(() -> lookUp(key)).get();
	}
}
