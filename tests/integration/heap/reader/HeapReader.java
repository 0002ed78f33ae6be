// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.graalvm.visualvm.lib.jfluid.heap.GCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;
import org.graalvm.visualvm.lib.jfluid.heap.JavaFrameGCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectArrayInstance;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectFieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.ThreadObjectGCRoot;

/**
 * Reads a heap dump with VisualVM's library and prints what that finds, each line a kind, a name and a number: objects
 * and references by class, classes, roots by kind, frames of threads and what they hold.
 */
public class HeapReader {
	static final Map<String, Long> found = new TreeMap<>();

	static void add(String kind, String name, long count) {
		found.merge(kind + "\t" + name, count, Long::sum);
	}

	static void takeObject(Instance object) {
		String owner = object.getJavaClass().getName();

		add("objects", owner, 1);
		if (object instanceof ObjectArrayInstance) {
			for (Object element : ((ObjectArrayInstance) object).getValues())
				add("references", owner, element != null ? 1 : 0);
			return;
		}
		for (Object value : object.getFieldValues())
			if (value instanceof ObjectFieldValue)
				add("references", owner, ((ObjectFieldValue) value).getInstance() != null ? 1 : 0);
	}

	static void takeRoot(Object root) {
		add("roots", ((GCRoot) root).getKind(), 1);
		if (root instanceof ThreadObjectGCRoot) {
			StackTraceElement[] stack = ((ThreadObjectGCRoot) root).getStackTrace();

			for (int i = 0; stack != null && i < stack.length; i++)
				add("frames", stack[i].getClassName() + "." + stack[i].getMethodName() + " " + stack[i].getLineNumber(), 1);
		}
		if (root instanceof JavaFrameGCRoot)
			add("locals", ((GCRoot) root).getInstance().getJavaClass().getName(), 1);
	}

	public static void main(String[] args) throws Exception {
		Heap heap = HeapFactory.createHeap(new File(args[0]));

		for (Object c : (List<?>) heap.getAllClasses())
			add("classes", ((JavaClass) c).getName(), 1);
		for (var objects = heap.getAllInstancesIterator(); objects.hasNext();)
			takeObject((Instance) objects.next());
		for (Object root : heap.getGCRoots())
			takeRoot(root);
		found.forEach((what, count) -> System.out.println(what + "\t" + count));
	}
}
