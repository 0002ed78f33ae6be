// SPDX-License-Identifier: Apache-2.0
/*
 * Writes fields of all types, in its own class and in others: `Writes ROUNDS [AGENT]`, or until the input ends. Prints SUM
 * NUMBER, which depends on every write, and with the agent of tests/rewrite what its class is like: CLASS NUMBER.
 */
public class Writes {
	static class Account {
		private long balance; /* JDK 8 has methods between for nested classes, later ones write it directly */
		protected volatile int version;
		public double rate;
		static float total;
		static String last = "none";
		Object owner;
		boolean open;
		char mark;
		short small;
		byte tiny;
		long[] history;

		Account(Object owner)
		{
			this.owner = owner; /* has an old value only behind super() */
			this.balance = 1;
		}

		void deposit(long amount)
		{
			balance += amount;
			version++;
		}

		void withdraw(long amount)
		{
			if (amount > 5)
				balance = balance - amount;
			else
				balance = 0;
		}
	}

	static class Savings extends Account {
		Savings()
		{
			super("saver");
			rate = 0.5;
		}
	}

	/* One whose writes are branches, loops, exceptions and a switch apart. */
	static long mixed(Account a, int round)
	{
		for (int i = 0; i < 3; i++) {
			try {
				switch (i) {
				case 0:
					a.mark = (char)('a' + round % 26);
					break;
				case 1:
					a.open = !a.open;
					a.small = (short)-round;
					break;
				default:
					a.history = null;
					a.history[0] = 1;
				}
			} catch (NullPointerException e) {
				a.history = new long[] {round};
				a.tiny = (byte)round;
			}
		}
		return a.mark + (a.open ? 1 : 0) + a.small + a.history[0] + a.tiny;
	}

	static void nowhere()
	{
		Account none = null;

		try {
			none.version = 1;
		} catch (NullPointerException e) {
			Account.last = "nowhere";
		}
	}

	static long round(int round)
	{
		Account a = new Savings();

		a.deposit(10);
		a.withdraw(round % 2 == 0 ? 7 : 3);
		a.rate = a.rate * 2 + round;
		Account.total += 1.5f;
		Account.last = "round " + round % 3;
		nowhere();
		a.owner = a;
		return a.balance + a.version + (long)a.rate + mixed(a, round) + a.owner.hashCode() * 0L;
	}

	public static void main(String[] args) throws Exception
	{
		java.lang.reflect.Method hash = null;
		int rounds = Integer.parseInt(args[0]);
		long sum = 0;

		if (args.length > 1) {
			System.load(args[1]);
			hash = Class.forName("RewriteAll").getDeclaredMethod("hash", Class.class);
			hash.setAccessible(true);
		}
		System.out.println("ready");
		for (int i = 0; rounds == 0 ? System.in.available() == 0 : i < rounds; i++) {
			sum += round(i);
			if (hash != null)
				System.out.println("CLASS " + hash.invoke(null, Account.class));
			if (rounds == 0)
				Thread.sleep(5);
		}
		System.out.println("SUM " + sum + " " + Account.total);
	}
}
