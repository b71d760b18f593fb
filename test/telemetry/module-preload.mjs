// A preload: the packages of OpenTelemetry are not installed. And with MODULES_FILE, what is loaded is written down.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (process.env.WITHOUT_OTEL === '1' && specifier.startsWith('@opentelemetry/')) {
      throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    if (process.env.MODULES_FILE !== undefined) appendFileSync(process.env.MODULES_FILE, `${url}\n`);
    return next(url, context);
  },
});
