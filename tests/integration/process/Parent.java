// SPDX-License-Identifier: Apache-2.0
import java.io.File;

/** Starts a Worker in another JVM, which inherits standard input and output. */
public class Parent {
    public static void main(String[] args) throws Exception {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process child = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Worker").inheritIO().start();
        System.exit(child.waitFor());
    }
}
