// SPDX-License-Identifier: Apache-2.0
#include "idle.h"

#include <string.h>

/*
 * The names are prefixes: of Java methods with their class, of demangled functions. Each line is a place at which a
 * pool, a framework or the JVM lets a thread wait for work. docs/idle.md has all of these tables, and a test compares
 * them.
 */
static const struct {
	const char *frame;
	enum idle_rule rule;
} frames[] = {
	/* the JDK's pools, timers, references */
	{"java.util.concurrent.ThreadPoolExecutor.getTask", IDLE_WAITS},
	{"java.util.concurrent.ForkJoinPool.awaitWork", IDLE_WAITS},
	{"java.util.concurrent.DelayScheduler.loop", IDLE_OWN},
	{"java.util.TimerThread.mainLoop", IDLE_OWN},
	{"java.lang.VirtualThread.takeVirtualThreadListToUnblock", IDLE_WAITS},
	{"java.lang.ref.Reference.waitForReferencePendingList", IDLE_WAITS},
	{"java.lang.ref.Reference.tryHandlePending", IDLE_WAITS},
	{"java.lang.ref.ReferenceQueue.remove", IDLE_WAITS},
	/* the JDK's loops of I/O */
	{"sun.nio.ch.Poller.updateLoop", IDLE_OWN},
	{"sun.nio.ch.Poller.", IDLE_LOOP},
	{"jdk.internal.net.http.HttpClientImpl$SelectorManager.run", IDLE_LOOP},
	{"sun.net.httpserver.ServerImpl$Dispatcher.run", IDLE_LOOP},
	{"sun.rmi.transport.tcp.TCPTransport$AcceptLoop.executeAcceptLoop", IDLE_LOOP},
	/* Netty */
	{"io.netty.channel.nio.NioEventLoop.", IDLE_LOOP},
	{"io.netty.channel.nio.NioIoHandler.", IDLE_LOOP},
	{"io.netty.channel.epoll.EpollEventLoop.", IDLE_LOOP},
	{"io.netty.channel.epoll.EpollIoHandler.", IDLE_LOOP},
	{"io.netty.channel.DefaultEventLoop.run", IDLE_OWN},
	{"io.netty.util.concurrent.SingleThreadEventExecutor.takeTask", IDLE_WAITS},
	{"io.netty.util.concurrent.GlobalEventExecutor.takeTask", IDLE_WAITS},
	{"io.netty.util.HashedWheelTimer$Worker.waitForNextTick", IDLE_WAITS},
	/* Tomcat */
	{"org.apache.tomcat.util.net.NioEndpoint$Poller.run", IDLE_LOOP},
	{"org.apache.tomcat.util.net.NioBlockingSelector$BlockPoller.run", IDLE_LOOP},
	{"org.apache.tomcat.util.net.Acceptor.run", IDLE_LOOP},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", IDLE_WAITS},
	{"org.apache.catalina.core.StandardServer.await", IDLE_WAITS},
	/* Jetty */
	{"org.eclipse.jetty.io.ManagedSelector", IDLE_LOOP},
	{"org.eclipse.jetty.server.AbstractConnector$Acceptor.run", IDLE_LOOP},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll", IDLE_WAITS},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll", IDLE_WAITS},
	{"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait", IDLE_WAITS},
	/* Grizzly */
	{"org.glassfish.grizzly.nio.SelectorRunner.", IDLE_LOOP},
	{"org.glassfish.grizzly.threadpool.AbstractThreadPool$Worker.getTask", IDLE_WAITS},
	{"org.glassfish.grizzly.threadpool.FixedThreadPool$BasicWorker.getTask", IDLE_WAITS},
	{"org.glassfish.grizzly.threadpool.SyncThreadPool$SyncThreadWorker.getTask", IDLE_WAITS},
	/* Undertow, XNIO, JBoss Threads */
	{"org.xnio.nio.WorkerThread.run", IDLE_LOOP},
	{"org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run", IDLE_OWN},
	/* Kafka: a client that polls in a thread of the application waits for an answer, and is not idle */
	{"kafka.network.Acceptor.run", IDLE_LOOP},
	{"kafka.network.Processor.", IDLE_LOOP},
	{"kafka.network.RequestChannel.receiveRequest", IDLE_WAITS},
	{"org.apache.kafka.clients.producer.internals.Sender.run", IDLE_LOOP},
	{"org.apache.kafka.clients.admin.KafkaAdminClient$AdminClientRunnable.", IDLE_LOOP},
	/* how such loops wait */
	{"sun.nio.ch.SelectorImpl.", IDLE_SELECT},
	{"sun.nio.ch.EPollPoller.poll", IDLE_SELECT},
	{"sun.nio.ch.ServerSocketChannelImpl.accept", IDLE_SELECT},
	{"java.net.ServerSocket.accept", IDLE_SELECT},
	{"io.netty.channel.epoll.Native.epoll", IDLE_SELECT},
	/* the JVM */
	{"AttachListener::dequeue", IDLE_WAITS},
	{"CompileQueue::get(", IDLE_WAITS},
	{"G1ConcurrentRefineThread::wait_for_completed_buffers", IDLE_WAITS},
	{"G1ServiceThread::wait_for_task", IDLE_WAITS},
	{"MonitorDeflationThread::monitor_deflation_thread_entry", IDLE_WAITS},
	{"NotificationThread::notification_thread_entry", IDLE_WAITS},
	{"ServiceThread::service_thread_entry", IDLE_WAITS},
	{"VMThread::loop", IDLE_WAITS},
	{"VMThread::wait_for_vm_operation", IDLE_WAITS},
	{"WatcherThread::sleep", IDLE_WAITS},
	{"signal_thread_entry(", IDLE_WAITS},
	{"os::signal_wait(", IDLE_WAITS},
	{"CallJavaMainInNewThread", IDLE_WAITS}, /* of the launcher: its first thread waits for the JVM's end */
	{"ContinueInNewThread", IDLE_WAITS},
	/* loops of programs that are no JVMs: the functions that only wait */
	{"sd_event_wait", IDLE_WAITS},
	{"g_main_context_poll", IDLE_WAITS},
	{"epoll_dispatch", IDLE_WAITS}, /* libevent */
	{"aeApiPoll", IDLE_WAITS},	/* Redis */
	/* workers of io_uring, in the kernel; io_wqe_worker until Linux 6.3 */
	{"io_wq_worker", IDLE_OWN},
	{"io_wqe_worker", IDLE_OWN},
	{"io_worker_handle_work", IDLE_WORK},
	{"io_wq_submit_work", IDLE_WORK},
};

/*
 * Where the JVM's functions have no names: a thread of the JVM that waits for nothing else. These are prefixes, because
 * the kernel truncates thread names to 15 bytes, and a trace may have those, see util/comm.h.
 */
static const char *const vm_threads[] = {
	"C1 CompilerThre",
	"C1 Comp..",
	"C2 CompilerThre",
	"C2 Comp..",
	"CMS Main Thread",
	"Concurrent Mark",
	"G1 Conc#",
	"G1 Concurrent R",
	"G1 Main Concurr",
	"G1 Main Marker",
	"G1 Refi..",
	"G1 Refine",
	"G1 Service",
	"G1 Young RemSet",
	"GC Thread#",
	"GC task thread#",
	"Gang worker#",
	"Shenand..",
	"Shenandoah",
	"StringD..Thread",
	"StringDedup",
	"Sweeper thread",
	"VM Peri..Thread",
	"VM Periodic Ta",
	"VM Thread",
	"XDirector",
	"XDriver",
	"XStat",
	"XWorker",
	"ZDirector",
	"ZDriver",
	"ZStat",
	"ZWorker",
	"braid agent",
	/* Java threads that JVM TI does not show */
	"Monitor Deflati",
	"Monitor..Thread",
	"Notific..Thread",
	"Notification Th",
	"Service Thread",
};
/* JVM threads that are Java threads. Their whole names are compared, since an application may choose similar ones. */
static const char *const java_threads[] = {
	"Attach Listener",   "Common-Cleaner", "Monitor Deflation Thread", "Notification Thread",
	"Reference Handler", "Service Thread", "Signal Dispatcher",	   "braid agent",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool begins(const char *name, const char *with)
{
	return *name == *with && strncmp(name, with, strlen(with)) == 0;
}

enum idle_rule idle_frame(const struct filter *f, const char *name)
{
	for (size_t i = 0; i < f->idle.count; i++)
		if (begins(name, f->idle.at[i]))
			return IDLE_WAITS;
	for (size_t i = 0; i < COUNT(frames); i++)
		if (begins(name, frames[i].frame))
			return frames[i].rule;
	return IDLE_NONE;
}

void idle_add(struct idle_state *s, enum idle_rule rule, bool foreign)
{
	if (foreign)
		s->own = false;
	switch (rule) {
	case IDLE_NONE:
		break;
	case IDLE_WAITS:
		s->waits = true;
		break;
	case IDLE_OWN:
		s->own = true;
		break;
	case IDLE_LOOP:
		s->loop = true;
		break;
	case IDLE_SELECT:
		s->selects = s->loop;
		break;
	case IDLE_WORK:
		s->own = s->loop = s->selects = false;
		break;
	}
}

bool idle_is(const struct idle_state *s)
{
	return s->waits || s->own || s->selects;
}

bool idle_thread(const char *name, bool java)
{
	for (size_t i = 0; !java && i < COUNT(vm_threads); i++)
		if (begins(name, vm_threads[i]))
			return true;
	for (size_t i = 0; java && i < COUNT(java_threads); i++)
		if (strcmp(name, java_threads[i]) == 0)
			return true;
	return false;
}

bool idle_thread_without_stack(const char *name, bool java, bool first)
{
	static const char *const names[] = {"Finalizer",    "Read-Poller",   "Read-Updater",
					    "Write-Poller", "Write-Updater", "VirtualThread-unparker"};

	for (size_t i = 0; java && i < COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return !java && first;
}
