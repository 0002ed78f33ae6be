// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.util.concurrent.atomic.AtomicLong;

/*
 * What the code calls in front of its writes to fields that are watched, once the agent has rewritten it (agent/rewrite,
 * agent/timing). All that BraidMethods says of itself holds here, too.
 *
 * An object has what is counted of one field in one method.
 */
public final class BraidFields {
	private static BraidFields[] all = {}; /* by id; filled as fields are written. Empty: nobody watches fields */
	private static volatile long owner;    /* the agent that watches them: where its functions are; 0: none */

	private final AtomicLong writes = new AtomicLong();
	private final AtomicLong left = new AtomicLong(); /* that may be reported until the next reading */
	private long taken;				  /* of the writes, at the last reading */

	private BraidFields() {}

	/* None of these is inlined, so that the stack of a write that is reported has the method by itself. */
	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(int id)
	{
		if (isReported(id))
			reported(owner, id, 0, null, null, 0, 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(int now, int id)
	{
		if (isReported(id))
			reported(owner, id, 1, null, null, now, 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(long now, int id)
	{
		if (isReported(id))
			reported(owner, id, 1, null, null, now, 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(float now, int id)
	{
		if (isReported(id))
			reported(owner, id, 1, null, null, Double.doubleToRawLongBits(now), 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(double now, int id)
	{
		if (isReported(id))
			reported(owner, id, 1, null, null, Double.doubleToRawLongBits(now), 0);
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(Object now, int id)
	{
		if (isReported(id))
			reported(owner, id, 1, now, null, 0, 0);
	}

	/* With the value before. They return the new one: rewritten code has no other copy of it. */
	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static int wrote(int now, int before, int id)
	{
		if (isReported(id))
			reported(owner, id, 2, null, null, now, before);
		return now;
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static long wrote(long now, long before, int id)
	{
		if (isReported(id))
			reported(owner, id, 2, null, null, now, before);
		return now;
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static float wrote(float now, float before, int id)
	{
		if (isReported(id))
			reported(owner, id, 2, null, null, Double.doubleToRawLongBits(now),
				 Double.doubleToRawLongBits(before));
		return now;
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static double wrote(double now, double before, int id)
	{
		if (isReported(id))
			reported(owner, id, 2, null, null, Double.doubleToRawLongBits(now),
				 Double.doubleToRawLongBits(before));
		return now;
	}

	@java.lang.invoke.DontInline
	@jdk.internal.vm.annotation.DontInline
	public static void wrote(Object now, Object before, int id)
	{
		if (isReported(id))
			reported(owner, id, 2, now, before, 0, 0);
	}

	/* Counts a write. */
	private static boolean isReported(int id)
	{
		BraidFields[] fields = all;
		BraidFields own;

		if (id >= fields.length)
			return false;
		own = fields[id];
		if (own == null && (own = first(fields, id)) == null)
			return false;
		own.writes.getAndIncrement();
		return own.left.get() > 0 && own.left.getAndDecrement() > 0;
	}

	/* Null: no memory is left. */
	private static synchronized BraidFields first(BraidFields[] fields, int id)
	{
		if (fields[id] != null)
			return fields[id];
		try {
			BraidFields own = new BraidFields();

			own.left.set(limit(owner, id));
			fields[id] = own;
		} catch (OutOfMemoryError e) {
			unmeasured(owner);
		}
		return fields[id];
	}

	/* As in BraidMethods. The first one says how many writes may be reported between two readings. */
	private static native long limit(long owner, int id);

	private static native void unmeasured(long owner);

	/* `values`: none, the new one, or both; references or numbers, and those with a point as bits of a double. */
	private static native void reported(long owner, int id, int values, Object now, Object before, long nowNumber,
					    long beforeNumber);

	/* ---- for the agent; `who` is one of its copies in this JVM ---- */

	/* False: another one watches fields. Throws what a call of a native method throws that the JVM does not find. */
	static synchronized boolean claim(long who, int max)
	{
		limit(0, 0);
		unmeasured(0);
		reported(0, 0, 0, null, null, 0, 0);
		if (owner != 0 && owner != who)
			return false;
		owner = who;
		if (all.length == 0)
			all = new BraidFields[max];
		return true;
	}

	static synchronized void release(long who)
	{
		if (owner != who)
			return;
		owner = 0;
		all = new BraidFields[0];
	}

	/* Asks for the limits again. */
	static synchronized void reset()
	{
		for (int id = 0; id < all.length; id++)
			if (all[id] != null)
				all[id].left.set(limit(owner, id));
	}

	/*
	 * Moves what was counted since the last time into `to`, from `id` on: for each, its id and its writes; what is
	 * left of `to` is 0. As many as ever may be reported again. Returns the id to go on with; 0: that was all.
	 */
	static synchronized int take(int id, long[] to)
	{
		int used = 0;

		for (int i = 0; i < to.length; i++)
			to[i] = 0;
		for (; id < all.length; id++) {
			BraidFields own = all[id];

			if (own == null || own.writes.get() == own.taken)
				continue;
			if (to.length - used < 2)
				return id;
			to[used] = id;
			to[used + 1] = own.writes.get() - own.taken;
			own.taken += to[used + 1];
			own.left.set(limit(owner, id));
			used += 2;
		}
		return 0;
	}
}
