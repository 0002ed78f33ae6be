// SPDX-License-Identifier: Apache-2.0
package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/* HotSpot's annotation, for the compiler only: the JVM knows it by its name, in 9 and later. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {}
