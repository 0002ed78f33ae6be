// SPDX-License-Identifier: Apache-2.0
package java.lang.invoke;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/* HotSpot's annotation, for the compiler only: the JVM knows it by its name, in 8. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {}
