// SPDX-License-Identifier: Apache-2.0
import braid.context.BraidContext;

import java.util.concurrent.LinkedBlockingQueue;

/** Span 1 is served by three threads, one after the other. Before and after that, each of them serves spans of its own. */
public class Handed
{
	static final LinkedBlockingQueue<Integer> accepted = new LinkedBlockingQueue<>();
	static final LinkedBlockingQueue<Integer> worked = new LinkedBlockingQueue<>();

	static void accept() throws Exception { Thread.sleep(40); }
	static void work() throws Exception { Thread.sleep(60); }
	static void write() throws Exception { Thread.sleep(50); }
	static void other() throws Exception { Thread.sleep(200); }

	/** Closed before the span that the thread serves, or after it. */
	static void serveOther(long span) throws Exception
	{
		try (BraidContext.Scope s = BraidContext.open(1, 1, span)) {
			other();
		}
	}

	static void acceptor() throws Exception
	{
		serveOther(2);
		try (BraidContext.Scope s = BraidContext.open(1, 1, 1)) {
			accept();
			accepted.put(1);
		}
		serveOther(3);
	}

	static void worker() throws Exception
	{
		accepted.take();
		try (BraidContext.Scope s = BraidContext.open(1, 1, 1)) {
			work();
			worked.put(1);
		}
		serveOther(4);
	}

	static void writer() throws Exception
	{
		worked.take();
		try (BraidContext.Scope s = BraidContext.open(1, 1, 1)) {
			write();
		}
		serveOther(5);
	}

	interface Body { void run() throws Exception; }

	static Thread start(String name, Body body)
	{
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}, name);

		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception
	{
		Thread[] all = {start("acceptor", Handed::acceptor), start("worker-0", Handed::worker), start("writer", Handed::writer)};

		for (Thread t : all)
			t.join();
	}
}
