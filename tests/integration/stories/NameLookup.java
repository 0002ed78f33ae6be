// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.UnknownHostException;

/** A slow DNS server: every request looks up the name of another back end. */
public final class NameLookup {
	private static void connectTo(String host) {
		try {
			InetAddress.getByName(host);
		} catch (UnknownHostException expected) {
			return;
		}
	}

	public static void main(String[] args) {
		System.out.println("ready");
		long end = System.nanoTime() + 60_000_000_000L;

		for (int i = 0; System.nanoTime() < end; i++)
			connectTo("back-end-" + i + ".example");
	}
}
