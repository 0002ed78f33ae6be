// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** `Dials NUMBER`: says "ready" and waits for a line. Then it connects to itself NUMBER times, and says where. */
class Dials {
    static void dial(ServerSocket server, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            new Socket(server.getInetAddress(), server.getLocalPort()).close();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            System.out.println("peer " + server.getLocalPort());
            dial(server, Integer.parseInt(args[0]));
        }
    }
}
