// An application that answers every request with its own content: echo.js PORT.
const http = require('http');

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('error', () => {});
  request.on('end', () => {
    const content = Buffer.concat(parts);
    response.writeHead(200, { 'content-length': content.length, 'content-type': 'text/plain' });
    response.end(content);
  });
});
server.keepAliveTimeout = 60000;
server.listen(Number(process.argv[2]), '127.0.0.1');
