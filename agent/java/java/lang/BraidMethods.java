// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.util.concurrent.atomic.AtomicLongArray;

/*
 * What methods call that the agent has rewritten (agent/rewrite, agent/timing). The agent defines it in the boot
 * loader, in a package that every loader and every module can see, and it stays in the JVM. Nothing that it uses is
 * ever rewritten, or it would call itself.
 *
 * Whatever changes between this class and the agent changes the name of this class, or of what has changed, too: a JVM
 * that an older agent has been in keeps the older class.
 */
public final class BraidMethods {
	/*
	 * Numbers of a method's array: its limit, the longest call since the last reading, then pairs of calls and
	 * their ns.
	 */
	private static final int LIMIT = 0, LONGEST = 1, PAIRS = 2;
	/*
	 * Pair b has calls from 1 << (b + FIRST) ns on; the first one also shorter ones, the last one all longer
	 * ones.
	 */
	private static final int FIRST = 6, BUCKETS = 34;
	private static final int RECORD = 3; /* numbers of a bucket in take() */

	/* By id; filled as methods are called. Empty: nobody times methods. */
	private static AtomicLongArray[] methods = {};
	private static volatile long owner; /* the agent that times methods: where its functions are; 0: none */

	private BraidMethods() {}

	public static long enter()
	{
		return System.nanoTime();
	}

	/* These four are not inlined, so that the stack of a call that is reported has the method by itself. */
	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void exit(long from, int id)
	{
		long to = end(from, id);

		if (to != 0)
			ended(owner, from, to, id, null, 0, null, null, null, null, 0, 0, 0, 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void thrown(Throwable by, long from, int id)
	{
		long to = end(from, id);

		if (to != 0)
			ended(owner, from, to, id, by, 0, null, null, null, null, 0, 0, 0, 0);
	}

	/*
	 * With values. `kinds` says what they are, and the agent what they are called. They are references and numbers,
	 * each in the order of the values.
	 */
	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void exit(long from, int id, int kinds, Object a, Object b, Object c, Object d, long e, long f,
				long g, long h)
	{
		long to = end(from, id);

		if (to != 0)
			ended(owner, from, to, id, null, kinds, a, b, c, d, e, f, g, h);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void thrown(Throwable by, long from, int id, int kinds, Object a, Object b, Object c, Object d,
				  long e, long f, long g, long h)
	{
		long to = end(from, id);

		if (to != 0)
			ended(owner, from, to, id, by, kinds, a, b, c, d, e, f, g, h);
	}

	/* Counts a call. Returns when it ended, if it is to be reported, and 0 if not. */
	private static long end(long from, int id)
	{
		AtomicLongArray[] all = methods;
		AtomicLongArray own;
		long to, ns, longest;
		int bucket;

		if (id >= all.length)
			return 0;
		own = all[id];
		if (own == null && (own = first(all, id)) == null)
			return 0;
		to = System.nanoTime();
		ns = to - from;
		bucket = 63 - FIRST - Long.numberOfLeadingZeros(ns);
		bucket = PAIRS + 2 * (bucket < 0 ? 0 : bucket >= BUCKETS ? BUCKETS - 1 : bucket);
		own.getAndIncrement(bucket);
		own.getAndAdd(bucket + 1, ns);
		while (ns > (longest = own.get(LONGEST)) && !own.compareAndSet(LONGEST, longest, ns))
			;
		return ns >= own.get(LIMIT) ? to : 0;
	}

	/*
	 * Two threads may both be the first: the one that comes late counts in the other's array. Null: no memory is
	 * left.
	 */
	private static synchronized AtomicLongArray first(AtomicLongArray[] all, int id)
	{
		if (all[id] != null)
			return all[id];
		try {
			AtomicLongArray own = new AtomicLongArray(PAIRS + 2 * BUCKETS);

			own.set(LIMIT, limit(owner, id));
			all[id] = own;
		} catch (OutOfMemoryError e) {
			unmeasured(owner);
		}
		return all[id];
	}

	/*
	 * The JVM finds them in the first agent that has them, which passes the calls on to the owner; without one
	 * they do nothing. The first one says which is the shortest call of a method that is reported.
	 */
	private static native long limit(long owner, int id);

	private static native void unmeasured(long owner);

	private static native void ended(long owner, long from, long to, int id, Throwable by, int kinds, Object a,
					 Object b, Object c, Object d, long e, long f, long g, long h);

	/* ---- for the agent; `who` is one of its copies in this JVM ---- */

	/* False: another one times methods. Throws what a call of a native method throws that the JVM does not find. */
	static synchronized boolean claim(long who, int max)
	{
		limit(0, 0);
		unmeasured(0);
		ended(0, 0, 0, 0, null, 0, null, null, null, null, 0, 0, 0, 0);
		if (owner != 0 && owner != who)
			return false;
		warmUp();
		owner = who;
		if (methods.length == 0)
			methods = new AtomicLongArray[max];
		return true;
	}

	/*
	 * From JDK 9 on, the first call of each of these links a VarHandle, by methods of classes that may be timed
	 * (ConcurrentHashMap): in end() they would call end() again, without an end.
	 */
	private static void warmUp()
	{
		AtomicLongArray array = new AtomicLongArray(1);

		array.set(0, array.get(0));
		array.getAndIncrement(0);
		array.getAndAdd(0, 1);
		array.getAndSet(0, 1);
		array.compareAndSet(0, 1, 2);
	}

	static synchronized void release(long who)
	{
		if (owner != who)
			return;
		owner = 0;
		methods = new AtomicLongArray[0];
	}

	/* Asks for the limits again. */
	static synchronized void reset()
	{
		for (int id = 0; id < methods.length; id++)
			if (methods[id] != null)
				methods[id].set(LIMIT, limit(owner, id));
	}

	/*
	 * Moves what was counted since the last time into `to`, from method `id` on: for each, its id, its longest
	 * call and the number of its buckets; then for each bucket its number, calls and ns. What is left of `to` is
	 * 0. Returns the method to go on with; 0: that was all.
	 */
	static synchronized int take(int id, long[] to)
	{
		AtomicLongArray[] all = methods;
		int used = 0;

		for (int i = 0; i < to.length; i++)
			to[i] = 0;
		for (; id < all.length; id++) {
			AtomicLongArray own = all[id];

			if (own == null || own.get(LONGEST) == 0)
				continue;
			if (to.length - used < RECORD * (BUCKETS + 1))
				return id;
			used = take(own, id, to, used);
		}
		return 0;
	}

	private static int take(AtomicLongArray own, int id, long[] to, int used)
	{
		int head = used, count = 0;

		to[head] = id;
		to[head + 1] = own.getAndSet(LONGEST, 0);
		used += RECORD;
		for (int b = 0; b < BUCKETS; b++) {
			if (own.get(PAIRS + 2 * b) == 0)
				continue;
			to[used] = b + FIRST;
			to[used + 1] = own.getAndSet(PAIRS + 2 * b, 0);
			to[used + 2] = own.getAndSet(PAIRS + 2 * b + 1, 0);
			used += RECORD;
			count++;
		}
		to[head + 2] = count;
		return used;
	}
}
