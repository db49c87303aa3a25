import java.lang.management.ManagementFactory;
import javax.management.ObjectName;

/** Asks the running JVM to write the classes that it has loaded into an archive, from which others start faster. */
public class OdfArchive {
    public static String dump(String path) throws Exception {
        Object[] arguments = new Object[] {new String[] {"dynamic_dump", path}};
        String[] signature = new String[] {"[Ljava.lang.String;"};
        Object told = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmCds", arguments, signature);
        return String.valueOf(told);
    }
}
