import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byBytes } from './by-bytes.ts';
import { byProgram, type Client, inOrder } from './client.ts';

const hasCompiler = spawnSync('java', ['--list-modules']).stdout?.includes('jdk.compiler@') ?? false;

const offersH2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'];

const ownSource = `
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.*;
public class Caller {
  public static void main(String[] a) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int i = 0; i < 2; i++) {
      BodyPublisher body = a[2].isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(a[2]);
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(a[0])).method(a[1], body);
      for (int h = 3; h < a.length; h += 2) request.header(a[h], a[h + 1]);
      System.out.println(client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }
}`;

const apacheSource = `
import org.apache.http.client.methods.*;
import org.apache.http.entity.StringEntity;
import org.apache.http.impl.client.*;
import org.apache.http.util.EntityUtils;
public class Caller {
  public static void main(String[] a) throws Exception {
    try (CloseableHttpClient client = HttpClients.createDefault()) {
      for (int i = 0; i < 2; i++) {
        RequestBuilder request = RequestBuilder.create(a[1]).setUri(a[0]);
        if (!a[2].isEmpty()) request.setEntity(new StringEntity(a[2]));
        for (int h = 3; h < a.length; h += 2) request.setHeader(a[h], a[h + 1]);
        try (CloseableHttpResponse answer = client.execute(request.build())) {
          EntityUtils.consume(answer.getEntity());
          System.out.println(answer.getStatusLine().getStatusCode());
        }
      }
    }
  }
}`;

function byClass(name: string, source: string, classPath = ''): Client {
  return byProgram(name, 'java', (call) => {
    const file = join(mkdtempSync(join(tmpdir(), 'client-')), 'Caller.java');
    writeFileSync(file, source);
    return [...(classPath ? ['-cp', classPath] : []), file, ...inOrder(call)];
  });
}

/** From CLASSPATH, or from the Debian package libhttpclient-java. */
function apacheClassPath(): string | undefined {
  const { CLASSPATH } = process.env;
  if (CLASSPATH?.includes('httpclient-4')) return CLASSPATH;
  const names = ['httpclient', 'httpcore', 'commons-logging', 'commons-codec'];
  const jars = names.map((name) => `/usr/share/java/${name}.jar`);
  return jars.every((jar) => existsSync(jar)) ? jars.join(':') : undefined;
}

function apache(): Client {
  const name = 'Apache HttpClient 4.5';
  const classPath = apacheClassPath();
  const lines = ['Connection: Keep-Alive', 'User-Agent: Apache-HttpClient/4.5.14 (Java/17.0.15)'];
  if (!hasCompiler || !classPath) return byBytes(name, [...lines, 'Accept-Encoding: gzip,deflate']);
  return byClass(name, apacheSource, classPath);
}

const ownName = '`HttpClient` of Java';

export const javaClients: Client[] = [
  hasCompiler ? byClass(ownName, ownSource) : byBytes(ownName, [...offersH2c, 'User-Agent: Java-http-client/17.0.15']),
  apache(),
  byBytes('Apache HttpClient 5.4', [
    'Accept-Encoding: gzip, x-gzip, deflate',
    'Connection: Upgrade',
    'Upgrade: TLS/1.2',
    'User-Agent: Apache-HttpClient/5.4.4 (Java/17.0.15)',
  ]),
];
