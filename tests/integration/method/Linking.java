// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ConcurrentHashMap;

/* Asks a map for as long as it takes, and then some, and says so. The classes of what times it are loaded meanwhile. */
public class Linking {
	public static void main(String[] args) throws Exception
	{
		ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
		long sum = 0;

		for (int i = 0; i < 1000; i++)
			map.put(i, i);
		for (int round = 0; round < 100; round++) {
			for (int i = 0; i < 1000; i++)
				sum += map.get(i);
			Thread.sleep(5);
		}
		System.out.println("sum " + sum);
	}
}
