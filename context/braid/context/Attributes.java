// SPDX-License-Identifier: Apache-2.0
package braid.context;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Attributes as the record of a thread has them: a key's number, the length, and the text. OpenTelemetry's process context
 * has the names of the keys.
 */
final class Attributes
{
	private static final int ROOM = 256, TEXT_MOST = ROOM - 2, KEYS_MOST = 256, KEY_BYTES_MOST = 64;

	private static final Map<String, Integer> NUMBERS = new ConcurrentHashMap<>();
	private static final List<byte[]> NAMES = new ArrayList<>();

	private Attributes()
	{
	}

	/* What has no room, or no key, is left out. */
	static byte[] encode(Map<String, String> attributes)
	{
		ByteArrayOutputStream to = new ByteArrayOutputStream();

		for (Map.Entry<String, String> e : attributes.entrySet()) {
			byte[] text = cut(e.getValue().getBytes(StandardCharsets.UTF_8));
			int number = to.size() + 2 + text.length <= ROOM ? number(e.getKey()) : -1;

			if (number < 0)
				continue;
			to.write(number);
			to.write(text.length);
			to.write(text, 0, text.length);
		}
		return to.toByteArray();
	}

	/* Between two characters. */
	private static byte[] cut(byte[] text)
	{
		int end = Math.min(text.length, TEXT_MOST); // a length has eight bits

		while (end < text.length && end > 0 && (text[end] & 0xc0) == 0x80)
			end--;
		return Arrays.copyOf(text, end);
	}

	/* -1: there is no room for one more key, or for any. */
	private static int number(String name)
	{
		Integer number = NUMBERS.get(name);

		return number != null ? number : add(name);
	}

	private static synchronized int add(String name)
	{
		byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
		Integer number = NUMBERS.get(name);

		if (number != null)
			return number;
		if (NAMES.size() == KEYS_MOST || bytes.length > KEY_BYTES_MOST)
			return -1;
		NAMES.add(bytes);
		if (!publish(message())) {
			NAMES.remove(NAMES.size() - 1);
			return -1;
		}
		NUMBERS.put(name, NAMES.size() - 1);
		return NAMES.size() - 1;
	}

	/* ---- the message, in the wire format of Protocol Buffers ---- */

	private static final int ATTRIBUTE = 2, PAIR_KEY = 1, PAIR_VALUE = 2, VALUE_STRING = 1, VALUE_ARRAY = 5, ARRAY_VALUE = 1;

	private static byte[] message()
	{
		ByteArrayOutputStream to = new ByteArrayOutputStream(), array = new ByteArrayOutputStream();

		for (byte[] name : NAMES)
			put(array, ARRAY_VALUE, part(VALUE_STRING, name));
		putPair(to, "threadlocal.schema_version", part(VALUE_STRING, ascii("tlsdesc_v1_dev")));
		putPair(to, "threadlocal.attribute_key_map", part(VALUE_ARRAY, array.toByteArray()));
		return to.toByteArray();
	}

	private static void putPair(ByteArrayOutputStream to, String key, byte[] value)
	{
		ByteArrayOutputStream pair = new ByteArrayOutputStream();

		put(pair, PAIR_KEY, ascii(key));
		put(pair, PAIR_VALUE, value);
		put(to, ATTRIBUTE, pair.toByteArray());
	}

	private static byte[] ascii(String text)
	{
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	private static byte[] part(int field, byte[] bytes)
	{
		ByteArrayOutputStream to = new ByteArrayOutputStream();

		put(to, field, bytes);
		return to.toByteArray();
	}

	private static void put(ByteArrayOutputStream to, int field, byte[] bytes)
	{
		int length = bytes.length;

		to.write(field << 3 | 2);
		for (; length >= 0x80; length >>>= 7)
			to.write(length & 0x7f | 0x80);
		to.write(length);
		to.write(bytes, 0, bytes.length);
	}

	private static native boolean publish(byte[] message);
}
