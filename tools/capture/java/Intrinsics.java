// SPDX-License-Identifier: Apache-2.0
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Uses everything for which HotSpot has hand-written code. Java 8, so that every JVM runs it. */
public final class Intrinsics {
	private static final byte[] DATA = new byte[1 << 12];
	private static final Charset LATIN = Charset.forName("ISO-8859-1");
	private static final Charset UTF8 = Charset.forName("UTF-8");
	private static final Charset UTF16 = Charset.forName("UTF-16LE");
	private static long sink;

	static long digests(int n) throws Exception {
		long sum = 0;
		for (String name : new String[] {"MD5", "SHA-1", "SHA-256", "SHA-512"}) {
			MessageDigest d = MessageDigest.getInstance(name);
			for (int i = 0; i < n; i++) {
				d.update(DATA, i % 64, 1024);
				sum += d.digest()[0];
			}
		}
		return sum;
	}

	static long ciphers(int n) throws Exception {
		SecretKeySpec key = new SecretKeySpec(Arrays.copyOf(DATA, 16), "AES");
		Cipher ecb = Cipher.getInstance("AES/ECB/NoPadding"), cbc = Cipher.getInstance("AES/CBC/NoPadding");
		Cipher ctr = Cipher.getInstance("AES/CTR/NoPadding"), gcm = Cipher.getInstance("AES/GCM/NoPadding");
		long sum = 0;
		for (int i = 0; i < n; i++) {
			byte[] iv = Arrays.copyOf(DATA, 16);
			iv[0] = (byte) (sink + i);
			iv[1] = (byte) ((sink + i) >> 8);
			iv[2] = (byte) ((sink + i) >> 16);
			int mode = i % 2 == 0 ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE;
			ecb.init(mode, key);
			cbc.init(mode, key, new IvParameterSpec(iv));
			ctr.init(mode, key, new IvParameterSpec(iv));
			gcm.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(128, Arrays.copyOf(iv, 12)));
			sum += ecb.doFinal(DATA, 0, 1024)[1] + cbc.doFinal(DATA, 0, 1024)[1] + ctr.doFinal(DATA, 0, 1000)[1];
			sum += gcm.doFinal(DATA, 0, 1024)[1];
			sink++;
		}
		return sum;
	}

	static long numbers(int n) {
		BigInteger a = new BigInteger(1, Arrays.copyOf(DATA, 128)).setBit(0), b = a.shiftRight(7).setBit(0);
		long sum = 0;
		for (int i = 0; i < n; i++) {
			a = a.multiply(b).add(BigInteger.valueOf(i)).shiftRight(1000);
			sum += a.multiply(a).intValue() + b.shiftLeft(i).intValue();
			if (i % 16 == 0)
				sum += BigInteger.valueOf(3 + i).modPow(b.shiftRight(900), b).intValue();
			if (a.bitLength() < 900)
				a = b;
		}
		return sum;
	}

	static long checksums(int n) {
		CRC32 crc = new CRC32();
		Adler32 adler = new Adler32();
		for (int i = 0; i < n; i++) {
			crc.update(DATA, i % 9, 2000);
			adler.update(DATA, i % 9, 2000);
			crc.update(i);
		}
		return crc.getValue() + adler.getValue();
	}

	static long strings(int n) {
		String latin = new String(DATA, 0, 600, LATIN), wide = latin.replace('a', '\u4e2d');
		long sum = 0;
		for (int i = 0; i < n; i++) {
			String a = latin.substring(i % 50), b = wide.substring(i % 50);
			sum += a.indexOf("xyz") + b.indexOf("\u4e2d\u4e2e") + a.compareTo(b) + b.compareTo(a) + a.compareTo(latin);
			sum += a.indexOf('q') + (a.equals(latin) ? 1 : 0) + a.hashCode() + b.lastIndexOf('z');
			sum += a.getBytes(LATIN).length + b.getBytes(UTF8).length + a.getBytes(UTF16).length;
			sum += new String(DATA, 0, 300, UTF8).length() + (a + i + b).length() + a.toUpperCase().length();
			sum += new StringBuilder(a).append(b).reverse().indexOf("a");
		}
		return sum;
	}

	static long base64(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			byte[] e = Base64.getEncoder().encode(DATA);
			sum += e.length + Base64.getDecoder().decode(e).length;
		}
		return sum;
	}

	static long copies(int n) {
		byte[] b = new byte[700];
		short[] s = new short[700], s2 = new short[700];
		int[] i4 = new int[700], i42 = new int[700];
		long[] l = new long[700], l2 = new long[700];
		Object[] o = new Object[200], o2 = new String[200];
		long sum = 0;
		for (int i = 0; i < n; i++) {
			int d = i % 13;
			System.arraycopy(DATA, d, b, i % 5, 600);
			System.arraycopy(b, d, b, 1 + i % 5, 600);
			System.arraycopy(s, d, s2, i % 5, 600);
			System.arraycopy(s, d, s, 1, 600);
			System.arraycopy(i4, d, i42, i % 5, 600);
			System.arraycopy(i4, d, i4, 1, 600);
			System.arraycopy(l, d, l2, i % 5, 600);
			System.arraycopy(l, d, l, 1, 600);
			System.arraycopy(o, d, o2, 0, 100); // checks each element
			System.arraycopy(o2, d, o, 0, 100);
			System.arraycopy(o, d, o, 1, 100);
			Arrays.fill(b, (byte) i);
			Arrays.fill(s, (short) i);
			Arrays.fill(i4, i);
			sum += Arrays.hashCode(b) + (Arrays.equals(i4, i42) ? 1 : 0) + l.clone().length + Arrays.copyOf(o, 150).length;
			Arrays.fill(o, "x");
		}
		return sum;
	}

	static long mathematics(int n) {
		double x = 0;
		float f = 0;
		for (int i = 0; i < n; i++) {
			x += Math.sin(i * 1e3) + Math.cos(i) + Math.tan(i) + Math.exp(-i) + Math.log(i + 1) + Math.log10(i + 1)
					+ Math.pow(i, 0.7) + Math.sinh(i * 0.01) + Math.tanh(i) + Math.cbrt(i);
			f += (float) (x % 3.5) + (i * 0.5f) % 7f;
			x += (long) (x * 1e30) + (int) f + Math.round(x) % 5;
		}
		return (long) x;
	}

	static long compression(int n) throws Exception {
		byte[] to = new byte[8192], back = new byte[8192];
		long sum = 0;
		for (int i = 0; i < n; i++) {
			Deflater d = new Deflater(1 + i % 9);
			d.setInput(DATA);
			d.finish();
			int size = d.deflate(to);
			d.end();
			Inflater f = new Inflater();
			f.setInput(to, 0, size);
			sum += f.inflate(back);
			f.end();
		}
		return sum;
	}

	static long round(int n) throws Exception {
		return digests(n / 4) + ciphers(n / 4) + numbers(n) + checksums(n) + strings(n / 2) + base64(n / 4)
				+ copies(n) + mathematics(n) + compression(1);
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;
		int n = args.length > 1 ? Integer.parseInt(args[1]) : 100;
		for (int i = 0; i < DATA.length; i++)
			DATA[i] = (byte) (97 + (i * i + i / 7) % 26);
		while (System.nanoTime() < end)
			sink += round(n);
	}
}
