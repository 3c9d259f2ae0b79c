// A POST as the bytes that go over the wire.

export function postRequest(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const text = JSON.stringify(body);
  const head = {
    host: "127.0.0.1",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}
