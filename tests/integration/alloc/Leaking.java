import java.util.ArrayList;
import java.util.List;

/*
 * Keeps 400 objects of 1,000 bytes, and between two of them makes 150 of the same class and size garbage. Prints how many
 * bytes it keeps. Never collects by itself.
 */
public class Leaking {
	static final List<byte[]> leaked = new ArrayList<>(1000);
	static volatile Object sink;

	static void leak() {
		leaked.add(new byte[984]);
	}

	static void garbage() {
		sink = new byte[984];
	}

	public static void main(String[] args) {
		for (int i = 0; i < 400; i++) {
			leak();
			for (int n = 0; n < 150; n++)
				garbage();
		}
		System.out.println("leaked " + leaked.size() * 1000);
	}
}
