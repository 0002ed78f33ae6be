// SPDX-License-Identifier: Apache-2.0
#include "fake_parts.h"

#include <string.h>

/* Numbers of an object and of methods. */
enum { RUNTIME = 50, TOTAL_MEMORY, FREE_MEMORY, METHODS, FOR_NAME };

static jthrowable JNICALL exception_occurred(JNIEnv *jni)
{
	JNI(ExceptionOccurred, NULL);
	return fake_reference(fake_pending);
}

static jboolean JNICALL exception_check(JNIEnv *jni)
{
	JNI(ExceptionCheck, JNI_TRUE);
	return fake_pending != 0;
}

static void JNICALL exception_clear(JNIEnv *jni)
{
	JNI(ExceptionClear, );
	fake_pending = 0;
}

static jint JNICALL throw(JNIEnv * jni, jthrowable exception)
{
	JNI(Throw, JNI_ERR);
	fake_pending = (uintptr_t)exception;
	return JNI_OK;
}

static void JNICALL delete_local(JNIEnv *jni, jobject object)
{
	JNI(DeleteLocalRef, );
	fake_locals -= object != NULL;
}

static __thread int locals_outside;

static jint JNICALL push_frame(JNIEnv *jni, jint capacity)
{
	JNI(PushLocalFrame, JNI_ENOMEM);
	(void)capacity;
	locals_outside = fake_locals; /* no agent needs nested local frames */
	return JNI_OK;
}

static jobject JNICALL pop_frame(JNIEnv *jni, jobject result)
{
	JNI(PopLocalFrame, NULL);
	fake_locals = locals_outside;
	return result;
}

static jint JNICALL ensure_capacity(JNIEnv *jni, jint capacity)
{
	JNI(EnsureLocalCapacity, JNI_ENOMEM);
	(void)capacity;
	return JNI_OK;
}

static jclass JNICALL object_class(JNIEnv *jni, jobject object)
{
	JNI(GetObjectClass, NULL);
	return fake_reference((uintptr_t)object);
}

static jclass JNICALL superclass(JNIEnv *jni, jclass class)
{
	JNI(GetSuperclass, NULL);
	return fake_reference((uintptr_t) class < 100 ? 100 : 0); /* class 100 is Object */
}

/* The last string that was made. */
static __thread char made[64];

const char *fake_string(void)
{
	return made;
}

static jobject class_for_name(void)
{
	return strcmp(made, "java.lang.Thread") == 0	   ? fake_reference(1)
	       : strcmp(made, "java.lang.Runtime") == 0	   ? fake_reference(RUNTIME)
	       : strncmp(made, "java.lang.Braid", 15) == 0 ? fake_reference(METHODS)
							   : NULL;
}

static jmethodID JNICALL get_method(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	JNI(GetMethodID, NULL);
	(void)class;
	(void)signature;
	return strcmp(name, "<init>") == 0	  ? (jmethodID)1
	       : strcmp(name, "totalMemory") == 0 ? (jmethodID)TOTAL_MEMORY
	       : strcmp(name, "freeMemory") == 0  ? (jmethodID)FREE_MEMORY
						  : NULL;
}

static jmethodID JNICALL get_static_method(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	JNI(GetStaticMethodID, NULL);
	(void)signature;
	if (strcmp(name, "forName") == 0)
		return (jmethodID)FOR_NAME;
	if (((uintptr_t) class & 0xffff) == METHODS)
		return (jmethodID)METHODS;
	return (uintptr_t) class == RUNTIME && strcmp(name, "getRuntime") == 0 ? (jmethodID)RUNTIME : NULL;
}

static jboolean JNICALL call_static_boolean(JNIEnv *jni, jclass class, jmethodID method, ...)
{
	JNI(CallStaticBooleanMethod, JNI_FALSE);
	(void)class;
	(void)method;
	return JNI_TRUE;
}

static jobject JNICALL call_static(JNIEnv *jni, jclass class, jmethodID method, ...)
{
	JNI(CallStaticObjectMethod, NULL);
	(void)class;
	return (uintptr_t)method == FOR_NAME ? class_for_name() : fake_reference((uintptr_t)method);
}

static jlong JNICALL call_long(JNIEnv *jni, jobject object, jmethodID method, ...)
{
	JNI(CallLongMethod, 0);
	ck_assert_uint_eq((uintptr_t)object, RUNTIME);
	return (uintptr_t)method == TOTAL_MEMORY ? fake.total_memory : fake.free_memory;
}

static jstring JNICALL new_string(JNIEnv *jni, const char *s)
{
	JNI(NewStringUTF, NULL);
	strncpy(made, s, sizeof(made) - 1);
	return fake_reference(2);
}

static jobject JNICALL new_object(JNIEnv *jni, jclass class, jmethodID init, ...)
{
	JNI(NewObject, NULL);
	(void)init;
	return fake_reference((uintptr_t) class);
}

static jfieldID JNICALL get_field(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	JNI(GetFieldID, NULL);
	(void)class;
	(void)name;
	(void)signature;
	return (jfieldID)3;
}

static jlong JNICALL long_field(JNIEnv *jni, jobject object, jfieldID field)
{
	JNI(GetLongField, 0);
	(void)field;
	return (jlong)(uintptr_t)object + 4096;
}

static jobject JNICALL object_field(JNIEnv *jni, jobject object, jfieldID field)
{
	JNI(GetObjectField, NULL);
	(void)field;
	return fake_reference((uintptr_t)object);
}

static jsize JNICALL string_length(JNIEnv *jni, jstring string)
{
	JNI(GetStringLength, 0);
	(void)string;
	return 4;
}

static void JNICALL string_region(JNIEnv *jni, jstring string, jsize start, jsize length, char *to)
{
	JNI(GetStringUTFRegion, );
	(void)string;
	(void)start;
	memcpy(to, "text", (size_t)length);
}

static jweak JNICALL new_weak(JNIEnv *jni, jobject object)
{
	JNI(NewWeakGlobalRef, NULL);
	atomic_fetch_add(&fake.weak, 1);
	return object;
}

static void JNICALL delete_weak(JNIEnv *jni, jweak object)
{
	JNI(DeleteWeakGlobalRef, );
	(void)object;
	atomic_fetch_sub(&fake.weak, 1);
}

/* Each one is different; the low bits are the object's number. */
static jobject JNICALL new_global(JNIEnv *jni, jobject object)
{
	static _Atomic uint32_t last;

	JNI(NewGlobalRef, NULL);
	atomic_fetch_add(&fake.global, 1);
	return (jobject)((uintptr_t)(atomic_fetch_add(&last, 1) + 1) << 16 | (uintptr_t)object);
}

static void JNICALL delete_global(JNIEnv *jni, jobject ref)
{
	JNI(DeleteGlobalRef, );
	(void)ref;
	atomic_fetch_sub(&fake.global, 1);
}

static jobject JNICALL new_local(JNIEnv *jni, jobject ref)
{
	uintptr_t object = (uintptr_t)ref & 0xffff;

	JNI(NewLocalRef, NULL);
	return object < 64 && fake.gone >> object & 1 ? NULL : fake_reference(object);
}

static jobjectRefType JNICALL ref_type(JNIEnv *jni, jobject ref)
{
	JNI(GetObjectRefType, JNIInvalidRefType);
	return (uintptr_t)ref == fake.invalid ? JNIInvalidRefType : JNIGlobalRefType;
}

static void *JNICALL get_array(JNIEnv *jni, jarray array, jboolean *copy)
{
	JNI(GetPrimitiveArrayCritical, NULL);
	(void)copy;
	return array;
}

static void JNICALL release_array(JNIEnv *jni, jarray array, void *elements, jint mode)
{
	JNI(ReleasePrimitiveArrayCritical, );
	(void)array;
	(void)elements;
	(void)mode;
}

static jboolean JNICALL is_same(JNIEnv *jni, jobject one, jobject other)
{
	JNI(IsSameObject, JNI_FALSE);
	return !other && (uintptr_t)one < 64 && fake.gone >> (uintptr_t)one & 1;
}

static jboolean is_virtual(JNIEnv *jni, jobject thread)
{
	(void)jni;
	(void)thread;
	return fake_jni_called(FAKE_JNI_IS_VIRTUAL_THREAD) && fake.virtual_threads;
}

static void *other(void)
{
	(void)fake_jni_called(FAKE_JNI_OTHER);
	return NULL;
}

static union {
	struct JNINativeInterface_ table;
	void (*slots[FAKE_JNI_SLOTS])(void);
} functions = {.table = {
		       .ExceptionOccurred = exception_occurred,
		       .ExceptionCheck = exception_check,
		       .ExceptionClear = exception_clear,
		       .Throw = throw,
		       .DeleteLocalRef = delete_local,
		       .PushLocalFrame = push_frame,
		       .PopLocalFrame = pop_frame,
		       .EnsureLocalCapacity = ensure_capacity,
		       .GetObjectClass = object_class,
		       .GetSuperclass = superclass,
		       .GetMethodID = get_method,
		       .GetStaticMethodID = get_static_method,
		       .CallStaticObjectMethod = call_static,
		       .CallStaticBooleanMethod = call_static_boolean,
		       .CallLongMethod = call_long,
		       .NewStringUTF = new_string,
		       .NewObject = new_object,
		       .GetFieldID = get_field,
		       .GetLongField = long_field,
		       .GetObjectField = object_field,
		       .GetStringLength = string_length,
		       .GetStringUTFRegion = string_region,
		       .NewWeakGlobalRef = new_weak,
		       .DeleteWeakGlobalRef = delete_weak,
		       .NewGlobalRef = new_global,
		       .DeleteGlobalRef = delete_global,
		       .NewLocalRef = new_local,
		       .GetObjectRefType = ref_type,
		       .GetPrimitiveArrayCritical = get_array,
		       .ReleasePrimitiveArrayCritical = release_array,
		       .IsSameObject = is_same,
	       }};

const jniNativeInterface *fake_jni_table(void)
{
	return &functions.table;
}

void fake_jni_set(const jniNativeInterface *table)
{
	memcpy(&functions, table, sizeof(functions));
}

size_t fake_jni_bytes(void)
{
	return sizeof(functions);
}

void fake_jni_start(void)
{
	functions.slots[FAKE_JNI_IS_VIRTUAL_THREAD] = (void (*)(void))is_virtual;
	fake_fill(functions.slots, FAKE_JNI_SLOTS, (void (*)(void))other);
	fake_jni = &functions.table;
}
