// SPDX-License-Identifier: Apache-2.0
// Host of test_hosts.py: what Node.js programs do: promises on the thread pool, workers, children,
// signals, a server and its client, an error that is caught. Says what came out, ends with 3.
//   node runtime.js FOLDER
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { execFile, spawnSync } = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');
const path = require('path');
const util = require('util');
const zlib = require('zlib');

function sum(from) {
    let total = 0;
    for (let i = from; i < from + 200000; i++)
        total += i % 7;
    return total;
}

if (!isMainThread) {
    parentPort.postMessage(sum(workerData));
    return;
}

const folder = process.argv[2];
process.on('exit', code => console.log('leaving with', code));

async function files() {
    const data = Buffer.alloc(300000, 'between the lines ');
    const names = [0, 1, 2, 3, 4, 5].map(n => path.join(folder, 'file' + n));
    await Promise.all(names.map(name => fs.promises.writeFile(name, data)));
    const back = await Promise.all(names.map(name => fs.promises.readFile(name)));
    console.log('read', back.every(b => b.equals(data)), fs.readFileSync(names[0]).length);
    const packed = await util.promisify(zlib.gzip)(data);
    console.log('packed', zlib.gunzipSync(packed).equals(data));
    console.log(crypto.createHash('sha256').update(data).digest('hex'));
    const key = await util.promisify(crypto.pbkdf2)('a', 'b', 2000, 32, 'sha256');
    console.log(key.toString('hex'));
    await fs.promises.stat(path.join(folder, 'nothing')).catch(e => console.log(e.code));
}

function workers() {
    return Promise.all([1, 2, 3].map(n => new Promise((done, failed) => {
        const worker = new Worker(__filename, { workerData: n });
        worker.on('message', done);
        worker.on('error', failed);
    })));
}

async function children() {
    const run = util.promisify(execFile);
    console.log((await run('sh', ['-c', 'echo from the child'])).stdout.trim());
    console.log(spawnSync('sh', ['-c', 'exit 9']).status);
    console.log(spawnSync('sh', ['-c', 'kill -9 $$']).signal);
}

function server() {
    return new Promise(done => {
        const serving = net.createServer(socket => socket.on('data', d => socket.end('back ' + d)));
        serving.listen(path.join(folder, 'socket'), () => {
            const client = net.connect(path.join(folder, 'socket'), () => client.write('there'));
            client.on('data', text => console.log(String(text)));
            client.on('close', () => serving.close(done));
        });
    });
}

function signal() {
    return new Promise(done => {
        const waiting = setInterval(() => {}, 1000); // a handler alone does not keep Node running
        process.once('SIGUSR2', name => {
            clearInterval(waiting);
            done(console.log('got', name));
        });
        process.kill(process.pid, 'SIGUSR2');
    });
}

(async () => {
    await files();
    console.log('workers', await workers());
    await children();
    await server();
    await signal();
    console.error('not on the output');
    process.exit(3);
})();
